using System.Text;
using QuickSilver.Core.Storage;

namespace QuickSilver.Core.Tests.Storage;

// What the logs of each environment must do; an environment passes by inheriting it.
public abstract class NodeLogContract : IDisposable
{
    private static readonly LogOptions Options = new() { Name = "log", BlockBytes = LogOptions.MinBlockBytes };

    private readonly LogHouse _house;

    internal NodeLogContract(LogHouse house)
    {
        _house = house;
    }

    public void Dispose() => _house.Dispose();

    [Fact]
    public void A_new_log_is_empty_and_a_log_that_is_opened_again_holds_what_was_synced()
    {
        var log = _house.Open();
        Assert.Equal((0, 0), (log.Log.Length, log.Log.DurableLength));
        log.AppendAndSync(Bytes("one"));
        log.AppendAndSync(Bytes("two"));
        log.Close();

        var again = _house.Open();
        Assert.Equal((6, 6), (again.Log.Length, again.Log.DurableLength));
        Assert.Equal("onetwo", Text(again.ReadAll()));
    }

    [Fact]
    public void Synced_bytes_survive_the_end_of_the_process()
    {
        var log = _house.Open();
        log.AppendAndSync(Bytes("durable"));
        _house.Restart();
        Assert.Equal("durable", Text(_house.Open().ReadAll()));
    }

    [Fact]
    public void Written_bytes_survive_the_end_of_the_process_without_a_sync()
    {
        var log = _house.Open();
        log.Append(Bytes("written"));
        _house.Until(() => log.Told.Written == 7, "the bytes are with the system");
        Assert.Equal(0, log.Log.DurableLength);
        _house.Restart();
        Assert.Equal("written", Text(_house.Open().ReadAll()));
    }

    [Fact]
    public void A_sync_waits_for_all_appends_before_it()
    {
        var log = _house.Open();
        log.Ask(() =>
        {
            for (int i = 0; i < 100; i++)
            {
                Assert.Equal(LogOutcome.Accepted, log.Log.Append([(byte)i]));
            }

            return log.Log.Sync();
        });
        _house.Until(() => log.Told.Synced > 0, "the log is synced");
        Assert.Equal(100, log.Told.Synced);
        Assert.Equal(Enumerable.Range(0, 100).Select(i => (byte)i), log.ReadAll());
    }

    [Fact]
    public void A_sync_of_an_empty_log_ends_too()
    {
        var log = _house.Open();
        log.Ask(log.Log.Sync);
        _house.Until(() => log.Told.Told.Contains("synced 0"), "the empty log is synced");
    }

    [Fact]
    public void A_read_sees_what_was_appended_before_it_and_ends_where_the_log_did()
    {
        var log = _house.Open();
        log.Ask(() =>
        {
            log.Log.Append(Bytes("abcdef"));
            log.Log.Read(2, new byte[100]);
            log.Log.Append(Bytes("ghi"));
            return log.Log.Read(6, new byte[100]);
        });
        _house.Until(() => log.Told.Reads.Count == 2, "both reads have ended");
        Assert.Equal(["cdef", "ghi"], log.Told.Reads.Select(Text));
        Assert.Empty(log.Read(9, 10));
    }

    [Fact]
    public void An_offset_outside_the_log_is_refused()
    {
        var log = _house.Open();
        log.AppendAndSync(Bytes("abc"));
        Assert.Throws<ArgumentOutOfRangeException>(() => log.Ask(() => log.Log.Read(4, new byte[1])));
        Assert.Throws<ArgumentOutOfRangeException>(() => log.Ask(() => log.Log.Read(-1, new byte[1])));
        Assert.Throws<ArgumentOutOfRangeException>(() => log.Ask(() => log.Log.Truncate(4)));
        Assert.Equal("abc", Text(log.ReadAll()));
    }

    [Fact]
    public void A_truncation_cuts_off_the_end_permanently_and_appends_continue_there()
    {
        var log = _house.Open();
        log.AppendAndSync(Bytes("abcdef"));
        log.Truncate(2);
        Assert.Equal((2, 2), (log.Log.Length, log.Log.DurableLength));
        log.AppendAndSync(Bytes("XY"));
        _house.Restart();
        Assert.Equal("abXY", Text(_house.Open().ReadAll()));
    }

    [Fact]
    public void A_truncation_waits_for_what_came_before_it_and_nothing_is_accepted_behind_it()
    {
        var log = _house.Open();
        log.Ask(() =>
        {
            log.Log.Append(Bytes("abcdef"));
            log.Log.Read(0, new byte[6]);
            Assert.Equal(LogOutcome.Accepted, log.Log.Truncate(3));
            Assert.Equal(LogOutcome.Busy, log.Log.Append(Bytes("x")));
            Assert.Equal(LogOutcome.Busy, log.Log.Read(0, new byte[1]));
            Assert.Equal(LogOutcome.Busy, log.Log.Truncate(0));
            Assert.Equal(LogOutcome.Busy, log.Log.Sync());
            return true;
        });
        _house.Until(() => log.Told.Rooms == 1, "there is room after the truncation");
        Assert.Equal("abcdef", Text(log.Told.Reads.Single()));
        Assert.Equal("abc", Text(log.ReadAll()));
    }

    [Fact]
    public void A_full_queue_says_so_and_reports_room_once_and_nothing_is_lost()
    {
        var log = _house.Open();
        var block = new byte[LogOptions.MinBlockBytes];
        int next = 0;
        log.Told.OnEach = what =>
        {
            if (what == "room")
            {
                Fill();
            }
        };
        _house.Do(Fill);
        _house.Until(() => log.Told.Written == 20 * block.Length, "all blocks are written");

        var all = log.ReadAll();
        Assert.Equal(Enumerable.Range(0, 20), Enumerable.Range(0, 20).Select(i => (int)all[i * block.Length]));
        Assert.InRange(log.Told.Rooms, 9, 19);

        void Fill()
        {
            for (; next < 20; next++)
            {
                block.AsSpan().Fill((byte)next);
                if (log.Log.Append(block) == LogOutcome.Busy)
                {
                    return;
                }
            }
        }
    }

    [Fact]
    public void Too_many_reads_at_a_time_are_put_off()
    {
        var log = _house.Open();
        log.AppendAndSync(Bytes("abc"));
        int accepted = log.Ask(() =>
        {
            int count = 0;
            for (; log.Log.Read(0, new byte[3]) == LogOutcome.Accepted; count++)
            {
            }

            return count;
        });
        // One is under way, the others wait.
        Assert.Equal(PendingReads.Limit + 1, accepted);
        _house.Until(() => log.Told.Rooms == 1 && log.Told.Reads.Count == accepted, "all reads have ended");
    }

    [Fact]
    public void A_log_at_its_limit_is_full_until_it_is_truncated()
    {
        var log = _house.TryOpen(Options with { MaxBytes = 5 });
        _house.Until(() => log.Told.IsOpen, "the log is open");
        Assert.Equal(LogOutcome.Accepted, log.Append(Bytes("abc")));
        Assert.Equal(LogOutcome.Full, log.Append(Bytes("def")));
        Assert.Equal(LogOutcome.Accepted, log.Append(Bytes("de")));
        log.Sync();
        Assert.Equal(LogOutcome.Full, log.Append(Bytes("f")));
        log.Truncate(0);
        Assert.Equal(LogOutcome.Accepted, log.Append(Bytes("f")));
    }

    [Fact]
    public void Before_it_is_open_a_log_is_busy_and_may_be_disposed()
    {
        var outcome = LogOutcome.Accepted;
        var log = _house.TryOpen(Options, opening =>
        {
            outcome = opening.Append(Bytes("x"));
            opening.Dispose();
        });
        Assert.Equal(LogOutcome.Busy, outcome);
        _house.Until(() => log.Told.IsClosed, "the log is closed");
        Assert.Equal(["closed"], log.Told.Told);
        Assert.Empty(_house.Open().ReadAll());
    }

    [Fact]
    public void A_log_that_is_open_cannot_be_opened_again_until_it_is_closed()
    {
        var log = _house.Open();
        var second = _house.TryOpen(Options);
        _house.Until(() => second.Told.IsClosed, "the second opening has failed");
        Assert.Equal(LogError.InUse, second.Told.Failure!.Error);
        Assert.Contains("log", second.Told.Failure.Message, StringComparison.Ordinal);
        Assert.Equal(["failed InUse"], second.Told.Told);

        log.AppendAndSync(Bytes("mine"));
        log.Close();
        Assert.Equal("mine", Text(_house.Open().ReadAll()));
    }

    [Fact]
    public void A_log_that_is_disposed_does_what_it_had_accepted()
    {
        var log = _house.Open();
        log.Ask(() =>
        {
            log.Log.Append(Bytes("abc"));
            log.Log.Read(0, new byte[3]);
            log.Log.Dispose();
            log.Log.Dispose();
            return true;
        });
        Assert.Throws<ObjectDisposedException>(() => log.Append(Bytes("d")));
        _house.Until(() => log.Told.IsClosed, "the log is closed");
        Assert.Equal(["opened", "written 3", "read 0+3", "closed"], log.Told.Told);
        Assert.Equal("abc", Text(_house.Open().ReadAll()));
    }

    [Fact]
    public void Logs_of_one_node_do_not_disturb_each_other()
    {
        var logs = Enumerable.Range(0, 5).Select(i => _house.Open($"log-{i}")).ToArray();
        for (int round = 0; round < 10; round++)
        {
            foreach (var log in logs)
            {
                log.Append(Bytes($"{log.Log.Name}:{round};"));
            }
        }

        Assert.All(logs, log =>
        {
            log.Sync();
            Assert.Equal(string.Concat(Enumerable.Range(0, 10).Select(i => $"{log.Log.Name}:{i};")), Text(log.ReadAll()));
        });
    }

    [Theory]
    [InlineData("")]
    [InlineData("Upper")]
    [InlineData("a/b")]
    [InlineData("a\\b")]
    [InlineData("..")]
    [InlineData(".hidden")]
    [InlineData("a b")]
    [InlineData("ä")]
    public void A_name_that_could_leave_the_directory_or_differ_by_case_is_refused(string name)
    {
        var refusal = Assert.Throws<ArgumentException>(() => _house.TryOpen(Options with { Name = name }));
        Assert.Contains("log name", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Names_may_be_as_long_as_their_limit_and_no_longer()
    {
        _house.Open(new string('n', LogOptions.MaxNameLength));
        Assert.Throws<ArgumentException>(() => _house.TryOpen(Options with { Name = new string('n', LogOptions.MaxNameLength + 1) }));
    }

    internal static byte[] Bytes(string text) => Encoding.ASCII.GetBytes(text);

    internal static string Text(byte[] bytes) => Encoding.ASCII.GetString(bytes);
}
