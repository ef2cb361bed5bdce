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

    [Theory]
    [InlineData("opened")]
    [InlineData("truncated 0")]
    public void A_caller_that_waits_for_room_is_notified_although_the_observer_throws(string at)
    {
        if (at != "opened")
        {
            _file.End(value: 700);
            _log.Truncate(0);
        }

        Assert.Equal(LogOutcome.Busy, _log.Append(new byte[1]));
        _told.OnEach = what =>
        {
            if (what == at)
            {
                throw new InvalidOperationException("As a protocol may.");
            }
        };
        Assert.Throws<InvalidOperationException>(() => _file.End());

        Assert.Equal(1, _told.Rooms);
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
    public void Reads_are_done_one_after_the_other_beside_a_write_and_its_sync()
    {
        _file.End(value: 100);
        _log.Append(new byte[1]);
        _log.Sync();
        for (int i = 0; i < 3; i++)
        {
            _log.Read(i, new byte[1]);
        }

        for (int i = 0; i < 3; i++)
        {
            Assert.Equal($"Read {i}+1", _file.ReadOperation);
            _file.EndRead();
        }

        Assert.Equal(("Write 100+1", ""), (_file.Operation, _file.ReadOperation));
        Assert.Equal(["opened", "read 0+1", "read 1+1", "read 2+1"], _told.Told);
    }

    [Fact]
    public void A_truncation_waits_for_all_reads_and_has_none_beside_it()
    {
        _file.End(value: 100);
        _log.Read(0, new byte[1]);
        _log.Read(1, new byte[1]);
        _log.Append(new byte[1]);
        Assert.Equal(LogOutcome.Accepted, _log.Truncate(50));
        Assert.Equal(LogOutcome.Busy, _log.Read(0, new byte[1]));
        _file.End();
        Assert.Equal(("", "Read 0+1"), (_file.Operation, _file.ReadOperation));
        _file.EndRead();
        Assert.Equal(("", "Read 1+1"), (_file.Operation, _file.ReadOperation));
        _file.EndRead();
        Assert.Equal(("Truncate 50+0", ""), (_file.Operation, _file.ReadOperation));
        _file.End();
        Assert.Equal(["opened", "written 101", "read 0+1", "read 1+1", "truncated 50", "room"], _told.Told);
    }

    [Fact]
    public void A_log_is_closed_after_the_read_that_is_beside_its_failure_and_does_not_report_that_read()
    {
        _file.End(value: 100);
        _log.Append(new byte[1]);
        _log.Read(0, new byte[1]);
        _file.Fail(LogError.NoSpace);
        Assert.Equal(("", "Read 0+1"), (_file.Operation, _file.ReadOperation));
        _file.EndRead();
        Assert.Equal("Close -1+0", _file.Operation);
        _file.End();
        Assert.Equal(["opened", "failed NoSpace"], _told.Told);
    }

    [Fact]
    public void A_sync_beside_a_failed_read_counts_as_durable_and_is_not_reported()
    {
        _file.End(value: 100);
        _log.Sync();
        _file.End();
        _log.Append(new byte[1]);
        _file.End();
        _log.Sync();
        _log.Read(0, new byte[1]);
        _file.FailRead(LogError.Device);
        Assert.Equal("Write 101+0 synced", _file.Operation);
        _file.End();
        Assert.Equal(101, _log.DurableLength);
        Assert.Equal("Close -1+0", _file.Operation);
        _file.End();
        Assert.Equal(["opened", "synced 100", "written 101", "failed Device"], _told.Told);
    }

    [Fact]
    public void The_first_of_two_failures_is_the_log_s()
    {
        _file.End(value: 100);
        _log.Append(new byte[1]);
        _log.Read(0, new byte[1]);
        _file.FailRead(LogError.Device);
        _file.Fail(LogError.NoSpace);
        _file.End();
        Assert.Equal("failed Device", _told.Told[^1]);
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
        Assert.Equal("", _file.ReadOperation);
        _file.End();
        Assert.Equal("Read 0+8", _file.ReadOperation);
    }

    [Fact]
    public void Room_is_announced_when_a_whole_block_is_free_again()
    {
        _file.End();
        _log.Append(new byte[BlockBytes]);
        _log.Append(new byte[10]);
        Assert.Equal(LogOutcome.Busy, _log.Append(new byte[BlockBytes]));
        Assert.Equal(0, _told.Rooms);
        // The write of what waited has begun, and its block takes appends.
        _file.End();
        Assert.Equal(($"Write {BlockBytes}+10", 1), (_file.Operation, _told.Rooms));
        Assert.Equal(BlockBytes + 10, _log.Length);
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

        if (what == "read")
        {
            _file.FailRead(LogError.Device);
            _file.End();
        }
        else
        {
            _file.Fail(LogError.Device);
        }

        if (what == "write")
        {
            _file.EndRead();
        }

        Assert.Equal(("Close -1+0", ""), (_file.Operation, _file.ReadOperation));
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
        Assert.Equal("Close 5+0", _file.Operation);
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

    // One change and one read, until the test ends it.
    private sealed class ScriptedFile : ILogFile
    {
        private LogOperation _change;
        private LogOperation _read;
        private ILogFileOwner? _owner;

        public string Operation => Text(_change);

        public string ReadOperation => Text(_read);

        public void Begin(in LogOperation operation, ILogFileOwner owner)
        {
            ref var place = ref operation.Kind == LogOperationKind.Read ? ref _read : ref _change;
            Assert.True(place.Kind == LogOperationKind.None, "Two operations of one kind at a time.");
            place = operation;
            _owner = owner;
            Assert.True(
                _read.Kind == LogOperationKind.None || _change.Kind is LogOperationKind.None or LogOperationKind.Write,
                "A read is beside an operation that changes more than the end.");
        }

        public void End(long value = 0) => Finish(ref _change, value, null);

        public void EndRead() => Finish(ref _read, 0, null);

        public void Fail(LogError error) => Finish(ref _change, 0, Failure(error));

        public void FailRead(LogError error) => Finish(ref _read, 0, Failure(error));

        public void EndAll()
        {
            while (_change.Kind != LogOperationKind.None || _read.Kind != LogOperationKind.None)
            {
                Finish(ref _change.Kind != LogOperationKind.None ? ref _change : ref _read, 0, null);
            }
        }

        private static LogException Failure(LogError error) => LogException.Of(error, "use", "log", "the test says so");

        private static string Text(in LogOperation operation) => operation.Kind == LogOperationKind.None
            ? ""
            : $"{operation.Kind} {operation.Offset}+{operation.Memory.Length}{(operation.IsSynced ? " synced" : "")}";

        private void Finish(ref LogOperation place, long value, LogException? failure)
        {
            Assert.True(place.Kind != LogOperationKind.None, "No operation is under way.");
            var kind = place.Kind;
            place = default;
            _owner!.OnDone(kind, value, failure);
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
