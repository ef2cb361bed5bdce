using QuickSilver.Core.Storage;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Storage;

// The log's own rules, over a file whose operations end when the test says so: how work gathers, takes turns, and fails.
public sealed class NodeLogTests
{
    private const int BlockBytes = LogOptions.MinBlockBytes;

    private readonly ScriptedFile _file = new();
    private readonly LogRecording _told = new();
    private readonly NodeLog _log;

    public NodeLogTests()
    {
        _log = NodeLog.Open(_file, new LogOptions { Name = "log", BlockBytes = BlockBytes }, _told);
    }

    [Fact]
    public void An_opened_log_is_as_long_as_its_file_and_durable()
    {
        _file.End(value: 700);
        Assert.Equal((700, 700), (_log.Length, _log.DurableLength));
        _log.Append(new byte[3]);
        Assert.Equal("Write 700+3", _file.Operation);
    }

    [Fact]
    public void Appends_and_syncs_that_come_during_a_write_share_the_next()
    {
        _file.End();
        _log.Append(new byte[1]);
        for (int i = 0; i < 10; i++)
        {
            _log.Append(new byte[5]);
            _log.Sync();
        }

        Assert.Equal((51, 0), (_log.Length, _log.DurableLength));
        _file.End();
        Assert.Equal("Write 1+50 synced", _file.Operation);
        _file.End();
        Assert.Equal("", _file.Operation);
        Assert.Equal(["opened", "written 1", "written 51", "synced 51"], _told.Told);
        Assert.Equal(51, _log.DurableLength);
    }

    [Fact]
    public void A_sync_that_comes_during_a_flush_is_not_answered_by_that_flush()
    {
        _file.End();
        _log.Sync();
        Assert.Equal("Write 0+0 synced", _file.Operation);
        _log.Append(new byte[7]);
        _log.Sync();
        _file.End();
        Assert.Equal("synced 0", _told.Told[^1]);
        _file.End();
        Assert.Equal("synced 7", _told.Told[^1]);
    }

    [Fact]
    public void Writes_and_reads_take_turns()
    {
        _file.End(value: 100);
        _log.Append(new byte[1]);
        for (int i = 0; i < 3; i++)
        {
            _log.Read(i, new byte[1]);
        }

        var done = new List<string>();
        while (done.Count < 6)
        {
            done.Add(_file.Operation.Split(' ')[0]);
            _log.Append(new byte[1]);
            _file.End();
        }

        Assert.Equal(["Write", "Read", "Write", "Read", "Write", "Read"], done);
    }

    [Fact]
    public void A_read_of_what_is_not_written_yet_waits_for_the_write()
    {
        _file.End();
        _log.Append(new byte[4]);
        _log.Append(new byte[4]);
        _log.Read(0, new byte[8]);
        _file.End();
        Assert.Equal("Write 4+4", _file.Operation);
        _file.End();
        Assert.Equal("Read 0+8", _file.Operation);
    }

    [Fact]
    public void Room_is_announced_when_a_whole_block_is_free_again()
    {
        _file.End();
        _log.Append(new byte[BlockBytes]);
        _log.Append(new byte[10]);
        Assert.Equal(LogOutcome.Busy, _log.Append(new byte[BlockBytes]));
        _log.Read(0, new byte[1]);
        Assert.Equal(0, _told.Rooms);
        // The read comes first: the block is full until the write after it has begun.
        _file.End();
        Assert.Equal(("Read 0+1", 0), (_file.Operation, _told.Rooms));
        _file.End();
        Assert.Equal((BlockBytes + 10, 1), (_log.Length, _told.Rooms));
        Assert.Equal(LogOutcome.Accepted, _log.Append(new byte[BlockBytes]));
        _file.End();
        Assert.Equal(1, _told.Rooms);
    }

    [Fact]
    public void An_append_of_more_than_a_block_is_always_refused()
    {
        _file.End();
        Assert.Throws<ArgumentException>(() => _log.Append(new byte[BlockBytes + 1]));
        Assert.Equal("", _file.Operation);
    }

    [Theory]
    [InlineData("write")]
    [InlineData("read")]
    [InlineData("truncate")]
    public void After_a_failure_nothing_more_is_done_but_to_close(string what)
    {
        _file.End(value: 100);
        switch (what)
        {
            case "write":
                _log.Append(new byte[4]);
                break;
            case "read":
                _log.Read(0, new byte[4]);
                break;
            default:
                _log.Truncate(4);
                break;
        }

        if (what != "truncate")
        {
            _log.Append(new byte[4]);
            _log.Read(0, new byte[4]);
            _log.Sync();
        }

        _file.Fail(LogError.Device);
        Assert.Equal("Close 0+0", _file.Operation);
        Assert.Equal(["opened"], _told.Told);
        _file.End();
        Assert.Equal(["opened", "failed Device"], _told.Told);
        Assert.Equal(100, _log.DurableLength);
        Assert.Equal("", _file.Operation);

        Assert.Throws<LogException>(() => _log.Append([1]));
        Assert.Throws<LogException>(() => _log.Read(0, new byte[1]));
        Assert.Throws<LogException>(() => _log.Truncate(0));
        Assert.Contains("log", Assert.Throws<LogException>(() => _log.Sync()).Message, StringComparison.Ordinal);
        _log.Dispose();
        Assert.Equal("", _file.Operation);
    }

    [Fact]
    public void A_failure_after_the_log_was_disposed_is_reported()
    {
        _file.End();
        _log.Append([1]);
        _log.Dispose();
        _file.Fail(LogError.NoSpace);
        _file.End();
        Assert.Equal("failed NoSpace", _told.Told[^1]);
    }

    [Fact]
    public void A_log_that_is_disposed_while_it_opens_is_closed_without_a_call_in_between()
    {
        _log.Dispose();
        _file.End(value: 5);
        Assert.Equal("Close 0+0", _file.Operation);
        _file.End();
        Assert.Equal(["closed"], _told.Told);
    }

    [Fact]
    public void A_log_may_be_used_and_disposed_from_within_its_callbacks()
    {
        _told.OnEach = what =>
        {
            switch (what)
            {
                case "opened":
                    _log.Append([1]);
                    _log.Sync();
                    break;
                case "written 1":
                    _log.Truncate(0);
                    break;
                case "truncated 0":
                    _log.Dispose();
                    break;
            }
        };
        while (_file.Operation.Length > 0)
        {
            _file.End();
        }

        Assert.Equal(["opened", "written 1", "synced 1", "truncated 0", "closed"], _told.Told);
    }

    [Fact]
    public void Appends_syncs_and_reads_allocate_nothing()
    {
        var quiet = new QuietObserver();
        var file = new ScriptedFile();
        var log = NodeLog.Open(file, new LogOptions { Name = "quiet" }, quiet);
        file.End();
        var bytes = new byte[100];
        Assert.Equal(0, Allocations.After(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                log.Append(bytes);
                log.Sync();
                log.Read(0, bytes);
                file.EndAll();
            }
        }));
        Assert.True(quiet.Calls > 3000);
    }

    // One operation, until the test ends it.
    private sealed class ScriptedFile : ILogFile
    {
        private LogOperation _operation;
        private ILogFileOwner? _owner;

        public string Operation => _operation.Kind == LogOperationKind.None
            ? ""
            : $"{_operation.Kind} {_operation.Offset}+{_operation.Memory.Length}{(_operation.IsSynced ? " synced" : "")}";

        public void Begin(in LogOperation operation, ILogFileOwner owner)
        {
            Assert.True(_operation.Kind == LogOperationKind.None, "Two operations at a time.");
            _operation = operation;
            _owner = owner;
        }

        public void End(long value = 0) => Finish(value, null);

        public void Fail(LogError error) => Finish(0, LogException.Of(error, "use", "log", "the test says so"));

        public void EndAll()
        {
            while (_operation.Kind != LogOperationKind.None)
            {
                Finish(0, null);
            }
        }

        private void Finish(long value, LogException? failure)
        {
            Assert.True(_operation.Kind != LogOperationKind.None, "No operation is under way.");
            _operation = default;
            _owner!.OnDone(value, failure);
        }
    }

    private sealed class QuietObserver : ILogObserver
    {
        public int Calls { get; private set; }

        public void OnOpened() => Calls++;

        public void OnWritten(long length) => Calls++;

        public void OnSynced(long length) => Calls++;

        public void OnRead(long offset, ReadOnlyMemory<byte> bytes) => Calls++;

        public void OnTruncated(long length) => Calls++;

        public void OnRoom() => Calls++;

        public void OnClosed(LogException? failure) => Calls++;
    }
}
