using QuickSilver.Core.Storage;
using QuickSilver.Core.Tests.Storage;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Simulation.Tests.Disks;

// Logs of protocols, whose names do not meet.
public sealed class ProtocolLogsTests
{
    private readonly SimulatedLogHouse _house = new();

    [Fact]
    public void Two_protocols_have_logs_of_one_name_and_each_lists_and_deletes_its_own()
    {
        var durable = new ProtocolLogs(_house.Node, "DurableTopics");
        var queries = new ProtocolLogs(_house.Node, "Queries");
        Open(durable, "one");
        Open(durable, "two");
        Open(queries, "one");
        Assert.Equal(["durabletopics.one", "durabletopics.two", "queries.one"], _house.List().Logs.Select(static log => log.Name));
        Assert.Equal(["one", "two"], Names(durable));
        _house.Restart();
        durable = new ProtocolLogs(_house.Node, "DurableTopics");
        Assert.Null(Delete(durable, "one"));
        Assert.Equal(["two"], Names(durable));
        Assert.Equal(["one"], Names(new ProtocolLogs(_house.Node, "Queries")));
    }

    [Theory]
    [InlineData("Reliable", "reliable.")]
    [InlineData("Durable Topics 2", "durable-topics-2.")]
    [InlineData("a.b", "a-b.")]
    [InlineData("Größe", "gr--e.")]
    public void The_prefix_of_a_protocol_has_one_dot_at_its_end(string guarantee, string prefix) =>
        Assert.Equal(prefix, new ProtocolLogs(_house.Node, guarantee).Prefix);

    [Fact]
    public void A_name_that_is_too_long_with_its_prefix_is_refused()
    {
        var logs = new ProtocolLogs(_house.Node, "Reliable");
        Open(logs, new string('n', LogOptions.MaxNameLength - "reliable.".Length));
        Assert.Throws<ArgumentException>(
            () => Open(logs, new string('n', LogOptions.MaxNameLength - "reliable.".Length + 1)));
    }

    private void Open(ProtocolLogs logs, string name)
    {
        var told = new LogRecording();
        _house.Do(() => logs.Open(new LogOptions { Name = name }, told));
        _house.Until(() => told.IsOpen, "the log is open");
    }

    private IEnumerable<string> Names(ProtocolLogs logs)
    {
        LogListing? listing = null;
        _house.Do(() => logs.List(found => listing = found));
        _house.Until(() => listing is not null, "the logs are listed");
        return listing!.Value.Logs.Select(static log => log.Name);
    }

    private LogException? Delete(ProtocolLogs logs, string name)
    {
        bool hasEnded = false;
        LogException? failure = null;
        _house.Do(() => logs.Delete(name, why =>
        {
            failure = why;
            hasEnded = true;
        }));
        _house.Until(() => hasEnded, "the deletion has ended");
        return failure;
    }
}
