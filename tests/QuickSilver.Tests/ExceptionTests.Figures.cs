using System.Collections;
using System.Collections.Concurrent;
using System.Globalization;
using QuickSilver.Groups;
using QuickSilver.Groups.Tools;
using QuickSilver.Serialization;
using QuickSilver.Simulation;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests;

// Programs read from properties what people read from messages.
public sealed partial class ExceptionTests
{
    // Of the exceptions of the table, the properties that have a value.
    private static readonly Dictionary<Type, string> Figures = new()
    {
        [typeof(QuickSilverOptionsException)] = "Failures=[The option PacketBytes is 1. Allowed: 576 to 65,507.]",
        [typeof(MembershipUnreachableException)] = "Timeout=00:00:10",
        [typeof(PortInUseException)] = "Holder=process 4711 (dnsmasq) Port=7402",
        [typeof(PrefixUnansweredException)] = "Prefix=prices/ Service=127.0.0.1:7402 Timeout=00:00:05",
        [typeof(QuorumLostException)] = "Since=01/01/1970 00:00:00 +00:00 Topic=t",
        [typeof(TopicAccessDeniedException)] = "Identity=reader Topic=t",
        [typeof(NodeExpelledException)] = "HasLeft=False Reason=ten heartbeats missed",
        [typeof(ContractMismatchException)] = "Topic=t",
        [typeof(MessageTooLargeException)] = "Bytes=16777217 Limit=16777216",
        [typeof(SlowReaderException)] = "Limit=00:00:05 Topic=t",
        [typeof(SlowHandlerException)] = "Handler=Board.Show Limit=00:00:02 PayloadType=System.String Topic=t",
        [typeof(ConsumerFailedException)] =
            "Attempts=1 PayloadType=System.String Sender=000000000000000a.1 Sequence=1 Topic=orders",
        [typeof(PayloadFormatException)] = "",
        [typeof(NoResponderException)] = "Name=stock Waited=00:00:01",
        [typeof(RequestTimeoutException)] =
            "Name=stock Silent=[0000000000000001.1, 0000000000000002.1, 0000000000000003.1, 0000000000000004.1, 0000000000000005.1, "
            + "0000000000000006.1, 0000000000000007.1, 0000000000000008.1, 0000000000000009.1, 000000000000000a.1] Timeout=00:00:05",
        [typeof(ResponderLeftException)] = "Name=stock",
        [typeof(ResponderFailedException)] = "Error=Part 7 is unknown. Name=stock Responder=0000000000000001.2",
        [typeof(TooManyRequestsException)] = "Limit=100 Name=stock",
        [typeof(StateFullException)] = "IsClosed=False Keys=10 Name=stock",
        [typeof(GroupHandlerException)] = "Call=OnEventAsync Group=orders",
        [typeof(GroupStateTooLargeException)] = "Donor=0000000000000001.2 Group=orders Limit=1024 Size=2000",
        [typeof(GroupFullException)] = "Group=orders Limit=1000",
        [typeof(GroupOutcomeUnknownException)] = "Group=orders",
        [typeof(SimulationException)] = "",
    };

    private static readonly ConcurrentDictionary<Type, Task<Exception>> All = new();

    // Texts that the message contains, and values that differ from run to run.
    private static readonly string[] InTheMessage = [nameof(ContractMismatchException.Difference), nameof(SimulationException.Replay)];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task The_names_and_figures_of_a_message_are_properties(string name)
    {
        var type = Types.Single(one => one.Name == name);
        var thrown = await ThrownOnceAsync(type).OrFail();
        var found = type.GetProperties().Where(static one => one.DeclaringType!.Assembly != typeof(Exception).Assembly)
            .OrderBy(static one => one.Name, StringComparer.Ordinal)
            .Select(one => (one.Name, Value: one.GetValue(thrown)))
            .Where(static one => one.Value is not null)
            .ToList();
        Assert.All(
            found.Where(static one => InTheMessage.Contains(one.Name)),
            one => Assert.Contains(Text(one.Value!).TrimEnd('.'), thrown.Message, StringComparison.Ordinal));
        if (thrown is SimulationException failure)
        {
            Assert.Contains($"Seed {failure.Seed} fails", failure.Message, StringComparison.Ordinal);
            Assert.Contains($"ended at {failure.Time} of virtual time", failure.Message, StringComparison.Ordinal);
            return;
        }

        Assert.Equal(
            Figures[type],
            string.Join(' ', found.Where(static one => !InTheMessage.Contains(one.Name)).Select(one => $"{one.Name}={Text(one.Value!)}")));
    }

    // Some take seconds until they are thrown.
    private static Task<Exception> ThrownOnceAsync(Type type) => All.GetOrAdd(type, static one => Table[one].Trigger());

    private static string Text(object value) => value switch
    {
        string text => text,
        IEnumerable many => $"[{string.Join(", ", many.Cast<object>())}]",
        _ => string.Create(CultureInfo.InvariantCulture, $"{value}"),
    };
}
