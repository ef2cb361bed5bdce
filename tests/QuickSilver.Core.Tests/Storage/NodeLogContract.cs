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

    [Fact]
    public void Reads_of_what_is_written_have_the_right_bytes_beside_appends_and_syncs()
    {
        var log = _house.Open();
        log.AppendAndSync(Enumerable.Range(0, 3000).Select(static i => (byte)i).ToArray());
        int left = 300;
        log.Told.OnEach = what =>
        {
            if (what.StartsWith("read", StringComparison.Ordinal) && --left > 0)
            {
                log.Log.Append(new byte[] { 1, 2, 3 });
                log.Log.Sync();
                log.Log.Read(left * 7, new byte[500]);
            }
        };
        _house.Do(() => log.Log.Read(0, new byte[500]));
        _house.Until(() => left == 0, "all reads have ended");
        Assert.Equal(300, log.Told.Reads.Count);
        for (int i = 1; i < 300; i++)
        {
            int offset = (300 - i) * 7;
            Assert.Equal(Enumerable.Range(offset, 500).Select(static at => (byte)at), log.Told.Reads[i]);
        }
    }

    [Fact]
    public void Logs_are_listed_with_their_lengths_in_the_order_of_their_names()
    {
        Assert.Empty(_house.List().Logs);
        var two = _house.Open("two");
        two.AppendAndSync(Bytes("abc"));
        _house.Open("one.1").Close();
        _house.Open(new string('n', LogOptions.MaxNameLength)).Close();
        var listing = _house.List();
        Assert.Null(listing.Failure);
        LogEntry[] expected = [new(new string('n', LogOptions.MaxNameLength), 0), new("one.1", 0), new("two", 3)];
        Assert.Equal(expected, listing.Logs);
        _house.Restart();
        Assert.Equal(listing.Logs, _house.List().Logs);
    }

    [Fact]
    public void A_log_that_is_deleted_is_not_listed_and_is_empty_when_it_is_opened_again()
    {
        var log = _house.Open();
        log.AppendAndSync(Bytes("abc"));
        log.Close();
        _house.Open("other").Close();
        Assert.Null(_house.Delete("log"));
        Assert.Equal("other", Assert.Single(_house.List().Logs).Name);
        Assert.Empty(_house.Open().ReadAll());
    }

    [Fact]
    public void A_log_that_is_open_or_is_being_opened_is_not_deleted()
    {
        LogException? early = null;
        bool hasEnded = false;
        var log = _house.TryOpen(Options, _ => _house.Node.DeleteLog("log", why =>
        {
            early = why;
            hasEnded = true;
        }));
        _house.Until(() => hasEnded && log.Told.IsOpen, "the log is open");
        Assert.Equal(LogError.InUse, early?.Error);
        log.AppendAndSync(Bytes("abc"));
        var refusal = _house.Delete("log");
        Assert.Equal(LogError.InUse, refusal?.Error);
        Assert.Contains("delete", refusal!.Message, StringComparison.Ordinal);
        Assert.Equal("abc", Text(log.ReadAll()));
        log.Close();
        Assert.Null(_house.Delete("log"));
    }

    [Fact]
    public void To_delete_a_log_that_does_not_exist_changes_nothing()
    {
        Assert.Null(_house.Delete("none"));
        Assert.Empty(_house.List().Logs);
    }

    [Fact]
    public void A_log_is_opened_after_the_deletion_that_was_asked_for_before()
    {
        var log = _house.Open();
        log.AppendAndSync(Bytes("abc"));
        log.Close();
        _house.Do(() => _house.Node.DeleteLog("log", static _ => { }));
        var again = _house.Open();
        Assert.Equal(0, again.Log.Length);
    }

    [Fact]
    public void Preallocation_does_not_change_where_a_log_ends()
    {
        var log = _house.Open(preallocated: 1 << 16);
        log.AppendAndSync(Bytes("abc"));
        log.AppendAndSync(Bytes("def"));
        Assert.Equal((6, 6), (log.Log.Length, log.Log.DurableLength));
        Assert.Equal("abcdef", Text(log.ReadAll()));
        Assert.Equal("log", _house.List().Logs[0].Name);
        Assert.True(_house.List().Logs[0].Bytes >= 1 << 16);
        log.Close();
        Assert.Equal(new LogEntry("log", 6), _house.List().Logs[0]);
        Assert.Equal("abcdef", Text(_house.Open(preallocated: 1 << 16).ReadAll()));
    }

    [Fact]
    public void A_log_that_is_appended_to_beyond_its_preallocation_grows_again_by_as_much()
    {
        var log = _house.Open(blockBytes: 64 << 10, preallocated: 1 << 16);
        var bytes = new byte[50_000];
        for (int i = 0; i < 5; i++)
        {
            bytes.AsSpan().Fill((byte)(i + 1));
            log.AppendAndSync(bytes);
        }

        var all = log.ReadAll();
        Assert.Equal(250_000, all.Length);
        Assert.All(Enumerable.Range(0, 5), i => Assert.Equal(i + 1, all[(i * 50_000) + 49_999]));
        Assert.InRange(_house.List().Logs[0].Bytes, 250_001, 250_000 + (1 << 16));
    }

    [Fact]
    public void After_the_end_of_the_process_zeros_are_left_behind_the_log_and_its_user_truncates_them()
    {
        _house.Open(preallocated: 1 << 16).AppendAndSync(Bytes("abc"));
        _house.Restart();
        var log = _house.Open(preallocated: 1 << 16);
        var left = log.ReadAll();
        Assert.Equal(left.Length, log.Log.Length);
        Assert.Equal("abc", Text(left[..3]));
        Assert.All(left[3..], static b => Assert.Equal(0, b));
        log.Truncate(3);
        log.AppendAndSync(Bytes("def"));
        Assert.Equal("abcdef", Text(log.ReadAll()));
    }

    [Fact]
    public void A_log_is_not_preallocated_beyond_its_limit()
    {
        var log = _house.TryOpen(Options with { MaxBytes = 5000, PreallocatedBytes = 4096 });
        _house.Until(() => log.Told.IsOpen, "the log is open");
        log.AppendAndSync(new byte[3000]);
        Assert.Equal(5000, _house.List().Logs[0].Bytes);
        log.AppendAndSync(new byte[2000]);
        Assert.Equal(LogOutcome.Full, log.Append(new byte[1]));
        Assert.Equal(5000, log.Log.Length);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1)]
    [InlineData(LogOptions.MinBlockBytes - 1)]
    [InlineData(LogOptions.MaxPreallocatedBytes + 1)]
    public void A_preallocation_out_of_its_range_is_refused(int bytes)
    {
        var refusal = Assert.Throws<ArgumentException>(() => _house.TryOpen(Options with { PreallocatedBytes = bytes }));
        Assert.Contains($"PreallocatedBytes of log 'log' is {bytes}", refusal.Message, StringComparison.Ordinal);
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
        Assert.Throws<ArgumentException>(() => _house.Delete(name));
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
