using System.Net;
using System.Text.RegularExpressions;
using QuickSilver.Groups;
using QuickSilver.Groups.Tools;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;
using QuickSilver.Simulation;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

// Every exception of the library says what failed, on what, why, and what to do. Each is thrown by what makes it happen, unless that takes
// a machine of its own.
public sealed partial class ExceptionTests
{
    // What, why, and what to do, of each.
    private static readonly Dictionary<Type, (Func<Task<Exception>> Trigger, string What, string Why, string WhatToDo)> Table = new()
    {
        [typeof(QuickSilverOptionsException)] = (
            () => Thrown(() => QuickSilverNode.StartAsync(new QuickSilverOptions { PacketBytes = 1 })),
            "The option PacketBytes", "is 1", "Allowed: 576 to 65,507"),
        [typeof(MembershipUnreachableException)] = (
            NobodyAsync,
            "joining a membership service", "the service at 127.0.0.1:9 did not", "Start the service, or correct Membership:Servers"),
        [typeof(PortInUseException)] = (
            () => Task.FromResult<Exception>(new PortInUseException(7402, "process 4711 (dnsmasq)")),
            "The UDP port 7402", "is in use by process 4711 (dnsmasq)", "End it, use another DiscoveryPort"),
        [typeof(PrefixUnansweredException)] = (
            UnansweredAsync,
            "The prefix \"prices/\" cannot be opened", "the membership service at 127.0.0.1:7402 did not report within 00:00:05",
            "Update the program that hosts the service, or open the topics one by one"),
        [typeof(QuorumLostException)] = (
            () => Made(new QuorumLostException("t", DateTimeOffset.UnixEpoch)),
            "The topic \"t\" does not accept the message", "has not heard the membership service since 1970-01-01 00:00:00 UTC",
            "Restore the network to the service, or start it again"),
        [typeof(TopicAccessDeniedException)] = (
            () => Made(new TopicAccessDeniedException("t", "reader", "The identity 'reader' may not publish in topic 't' (rights.json)")),
            "may not publish in topic 't'", "rights.json", "Change the rule there"),
        [typeof(NodeExpelledException)] = (
            ExpelledAsync, "The membership service removed this node", "ten heartbeats missed", "Start a new node"),
        [typeof(ContractMismatchException)] = (
            MismatchAsync, "Topic 't' carries", "this endpoint has", "give this one a Cluster of its own"),
        [typeof(MessageTooLargeException)] = (
            TooLargeAsync, "The encoded message has 16,777,217 bytes", "The limit is 16,777,216", "Split the message"),
        [typeof(SlowReaderException)] = (
            () => Task.FromResult<Exception>(new SlowReaderException("t", TimeSpan.FromSeconds(5))),
            "The reader of the topic \"t\"", "blocked its senders for 00:00:05 (SlowReaderLimit)", "Read faster"),
        [typeof(SlowHandlerException)] = (
            () => Task.FromResult<Exception>(new SlowHandlerException("t", typeof(string), "Board.Show", TimeSpan.FromSeconds(2))),
            "The handler Board.Show of the topic \"t\"", "blocked the node's core thread for 00:00:02 (HandlerLimit)", "Use Subscribe"),
        [typeof(ConsumerFailedException)] = (
            FailedAsync, "The consumer of the topic \"orders\"", "System.FormatException: no number", "Correct the cause"),
        // A codec knows neither topic nor sender. The log message that reports it names them.
        [typeof(PayloadFormatException)] = (
            () => Thrown(() => Task.FromResult(Utf8([0xFF]))), "The payload is malformed", "not valid UTF-8",
            "Check that both sides have the same contract and codec"),
        [typeof(NoResponderException)] = (
            () => Made(new NoResponderException("stock", TimeSpan.FromSeconds(1))),
            "requests for \"stock\"", "No node responds to requests for \"stock\", for 1 s. The request was not sent",
            "Open a responder with the same name and types"),
        [typeof(RequestTimeoutException)] = (
            () => Made(new RequestTimeoutException("stock", TimeSpan.FromSeconds(5), [.. Enumerable.Range(1, 10).Select(Silent)])),
            "a request for \"stock\"",
            "within 5 s from 10 responders: parts-1 (0000000000000001.1), parts-2 (0000000000000002.1)",
            "parts-8 (0000000000000008.1) and 2 more. Responders may be too slow, or overloaded, and may still handle it. Give it more"),
        [typeof(ResponderLeftException)] = (
            () => Made(new ResponderLeftException("stock", responder: null)),
            "responders for \"stock\"", "left before they answered", "Send it again if that does no harm"),
        [typeof(ResponderFailedException)] = (
            () => Made(new ResponderFailedException("stock", new NamedNode(new NodeKey(1, 2), "parts@web-3"), "Part 7 is unknown.")),
            "The responder parts@web-3 (0000000000000001.2) for \"stock\" failed", "Part 7 is unknown. ", "Look at the log of that node"),
        [typeof(TooManyRequestsException)] = (
            () => Made(new TooManyRequestsException("stock", 100)),
            "100 requests for \"stock\"", "which is the limit", "Wait for answers, or raise MaxOutstanding"),
        [typeof(StateFullException)] = (
            () => Made(new StateFullException("stock", 10, isEnded: false)),
            "The state \"stock\"", "has 10 keys, the limit", "Remove keys, or raise StateOptions.MaxKeys"),
        [typeof(GroupHandlerException)] = (
            () => Made(new GroupHandlerException("orders", "OnEventAsync", new FormatException("no number"))),
            "The handler of the group \"orders\" threw in OnEventAsync", "System.FormatException: no number.", "Correct the handler"),
        [typeof(GroupStateTooLargeException)] = (
            () => Made(new GroupStateTooLargeException("orders", new NodeId(1, 2), size: 2_000, limit: 1_024)),
            "The state of the group \"orders\" has at least 2,000 bytes at node 0000000000000001.2", "The limit is 1,024",
            "Raise it on all members, or keep less in the state"),
        [typeof(GroupFullException)] = (
            () => Made(new GroupFullException("orders", "keys", 1_000, "Remove some.")),
            "\"orders\"", "has reached its limit of 1,000 keys", "Remove some"),
        [typeof(GroupOutcomeUnknownException)] = (
            () => Made(new GroupOutcomeUnknownException("orders")),
            "The outcome of a call on \"orders\" is unknown", "was removed from the group and came back", "Read the state"),
        [typeof(SimulationException)] = (
            FailedSeedAsync,
            "fails (1 of 1)", "Timed out after 00:00:01 waiting until all books are equal", "Replay: QS_SEEDS=1 QS_FIRST_SEED="),
    };

    public static TheoryData<string> Names => new(Types.Select(static type => type.Name));

    // Of all assemblies that have any.
    private static IEnumerable<Type> Types =>
        new[] { typeof(QuickSilverNode), typeof(PayloadFormatException), typeof(SimulationException), typeof(GroupOptions) }
        .SelectMany(static type => type.Assembly.GetExportedTypes())
        .Where(static type => type.IsSubclassOf(typeof(Exception)) && !type.IsAbstract)
        // The words of a fault are those of the application that throws it.
        .Where(static type => type != typeof(FaultException<>));

    // The lists of the public types of all assemblies are files of the repository.
    [Fact]
    public void All_public_exceptions_of_all_assemblies_are_in_the_table()
    {
        var listed = Directory.EnumerateFiles(Path.Combine(RepositoryRoot.Path, "tests", "QuickSilver.Architecture.Tests", "PublicApi"))
            .SelectMany(static file => NamespaceOfList().Split(File.ReadAllText(file)).Skip(1).Chunk(2))
            .SelectMany(static part => ExceptionOfList().Matches(part[1]).Select(match => $"{part[0]}.{match.Groups[1].Value}"));
        Assert.Equal(listed.Order(), Table.Keys.Select(static type => type.FullName!).Order());
    }

    [Fact]
    public void All_exceptions_of_the_library_have_one_base() => Assert.All(
        Types.Where(static type => type != typeof(SimulationException)),
        static type => Assert.Contains(type.BaseType, (Type[])[typeof(QuickSilverException), typeof(RequestException)]));

    [Theory]
    [MemberData(nameof(Names))]
    public async Task An_exception_says_what_failed_why_and_what_to_do(string name)
    {
        var type = Types.Single(one => one.Name == name);
        Assert.True(Table.TryGetValue(type, out var row), $"{name} is not in the table.");
        var thrown = await ThrownOnceAsync(type).OrFail();
        Assert.IsType(type, thrown);
        Assert.Contains(row.What, thrown.Message);
        Assert.Contains(row.Why, thrown.Message);
        Assert.NotEqual("", row.WhatToDo);
        Assert.Contains(row.WhatToDo, thrown.Message);
        Assert.EndsWith(".", thrown.Message);
    }

    [GeneratedRegex(@"^namespace ([\w.]+)$", RegexOptions.Multiline)]
    private static partial Regex NamespaceOfList();

    [GeneratedRegex(@"^    public sealed class (\w+) : [\w.]*Exception\b", RegexOptions.Multiline)]
    private static partial Regex ExceptionOfList();

    private static NamedNode Silent(int number) => new(new NodeKey((ulong)number, 1), $"parts-{number}");

    private static Task<Exception> Made(Exception exception) => Task.FromResult(exception);

    private static string Utf8(byte[] bytes) =>
        GeneratedCodecs.TryGet<string>(out var codec) ? codec.Read(bytes) : throw new NotSupportedException();

    private static async Task<Exception> Thrown<T>(Func<Task<T>> action) => (await Record.ExceptionAsync(async () => await action()))!;

    private static async Task<Exception> NobodyAsync()
    {
        await using var parts = new FakeParts { Joins = false };
        var starting = parts.StartAsync(new QuickSilverOptions { Membership = { Servers = ["127.0.0.1:9"] } });
        return await Thrown(async () =>
        {
            await parts.Time.RunUntilAsync(starting);
            return 0;
        });
    }

    // The service takes the node in, and skips what it does not know.
    private static async Task<Exception> UnansweredAsync()
    {
        await using var parts = new FakeParts();
        var service = new IPEndPoint(IPAddress.Loopback, 7402);
        parts.Service.Follows = new TopicFollows(
            static _ => { }, new AnswerLimit(parts.Core, TimeSpan.FromSeconds(5)) { Service = () => service });
        var node = await parts.StartAsync();
        var opening = node.OpenPrefixAsync<string>("prices/", static (_, _, _) => default);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(4.9)));
        Assert.False(opening.IsCompleted);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(0.1)));
        return await Thrown(() => opening);
    }

    private static async Task<Exception> ExpelledAsync()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        return await Thrown(() => node.OpenTopicAsync<string>("t"));
    }

    private static async Task<Exception> MismatchAsync()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await node.OpenTopicAsync<string>("t");
        return await Thrown(() => node.OpenTopicAsync<byte[]>("t"));
    }

    private static async Task<Exception> TooLargeAsync()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenPublisherAsync<byte[]>("t");
        return await Thrown(async () =>
        {
            await topic.PublishAsync(new byte[(16 << 20) + 1]);
            return 0;
        });
    }

    // The failure of a test, and not of the library under it.
    private static Task<Exception> FailedSeedAsync() => Thrown<int>(() =>
    {
        Simulate.ManySeeds(1, new SimulationOptions { Nodes = 1 }, static cluster =>
        {
            cluster.Start();
            cluster.Eventually("all books are equal", static () => false, TimeSpan.FromSeconds(1));
        });
        return Task.FromResult(0);
    });

    private static async Task<Exception> FailedAsync()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var options = new ConsumerOptions<string> { OnError = ConsumerErrors.Stop };
        var consumption = bench.Topic.Subscribe((_, _) => throw new FormatException("no number."), options);
        await bench.DeliverAsync(1);
        return (await consumption.Completion.OrFail()).Error!;
    }
}
