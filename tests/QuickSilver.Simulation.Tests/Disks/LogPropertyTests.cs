using System.Globalization;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Tests.Storage;
using QuickSilver.Simulation.Disks;

namespace QuickSilver.Simulation.Tests.Disks;

// Random courses of a log against the plain statement of what it promises: what was synced is there, and behind it a front part of
// what was appended, whatever ended when.
public sealed class LogPropertyTests
{
    [Fact]
    public void Synced_bytes_survive_followed_by_a_prefix_of_the_rest() =>
        Steps.Hold(steps => new Course(new DiskModel { Jitter = TimeSpan.FromMilliseconds(1) }).Run(steps));

    [Fact]
    public void Synced_bytes_survive_in_a_preallocated_log_followed_by_a_prefix_of_the_rest_and_zeros() =>
        Steps.Hold(steps => new Course(new DiskModel { Jitter = TimeSpan.FromMilliseconds(1) }, preallocated: 8192).Run(steps));

    [Fact]
    public void A_disk_with_errors_breaks_no_promise_of_a_preallocated_log_either() => Steps.Hold(
        steps => new Course(new DiskModel { WriteErrors = 0.1, SyncErrors = 0.1, ReadErrors = 0.02 }, preallocated: 8192).Run(steps));

    [Fact]
    public void A_disk_with_errors_breaks_no_promise_either_as_long_as_its_failed_logs_are_cut_off_at_their_durable_length() =>
        Steps.Hold(steps => new Course(new DiskModel { WriteErrors = 0.1, SyncErrors = 0.1, ReadErrors = 0.02 }).Run(steps));

    [Fact]
    public void A_disk_that_loses_syncs_is_found_out()
    {
        // The check must be able to fail: it does on a disk that lies.
        Assert.ThrowsAny<Exception>(() => Steps.Hold(steps => new Course(new DiskModel { LosesSyncs = true }).Run(steps)));
    }

    // One log on one machine. What is known of it: the bytes that were accepted, how many of them are promised, and to which length
    // it may have been cut off.
    private sealed class Course
    {
        private readonly SimulatedLogHouse _house = new();
        private OpenLog _log = null!;
        private List<byte> _accepted = [];
        private int _promised;
        private int? _truncating;
        private long _failures;
        private byte _next;

        private readonly int _preallocated;

        public Course(DiskModel model, int preallocated = 0)
        {
            _preallocated = preallocated;
            _house.Model = model;
            Reopen();
        }

        // What must be there, even while a truncation is under way.
        private int Sure => Math.Min(_promised, _truncating ?? _promised);

        public void Run(int[] steps)
        {
            foreach (int step in steps)
            {
                Do(step % 16, step / 16);
            }

            _house.LosePower();
            Reopen();
        }

        private void Do(int kind, int size)
        {
            switch (kind)
            {
                case < 6:
                    Append(1 + (size % 3000));
                    break;
                case < 9:
                    Call(log => log.Sync());
                    break;
                case < 12:
                    _house.Cluster.Run(TimeSpan.FromMicroseconds(size % 2000));
                    break;
                case 12:
                    Call(log => log.Read(size % (log.Length + 1), new byte[100]));
                    break;
                case 13:
                    Truncate(size);
                    break;
                case 14:
                    _house.Restart();
                    Reopen();
                    break;
                default:
                    _house.LosePower();
                    Reopen();
                    break;
            }
        }

        private void Append(int count)
        {
            var bytes = Enumerable.Range(0, count).Select(_ => _next++).ToArray();
            Call(log =>
            {
                var outcome = log.Append(bytes);
                if (outcome == LogOutcome.Accepted)
                {
                    _accepted.AddRange(bytes);
                }

                return outcome;
            });
        }

        private void Truncate(int size) => Call(log =>
        {
            int length = size % ((int)log.Length + 1);
            var outcome = log.Truncate(length);
            if (outcome == LogOutcome.Accepted)
            {
                _truncating = length;
            }

            return outcome;
        });

        private void Call(Func<INodeLog, LogOutcome> call)
        {
            try
            {
                _log.Ask(() => call(_log.Log));
            }
            catch (LogException)
            {
                _house.Until(() => _log.Told.IsClosed, "the failed log has closed");
                Reopen();
            }
        }

        private void Reopen()
        {
            while (!TryReopen())
            {
            }

            _promised = _accepted.Count;
            _truncating = null;
            _failures = _house.Machine.Disk.Failures;
            _log.Told.OnEach = Note;
        }

        // False: the disk failed meanwhile.
        private bool TryReopen()
        {
            _log = _house.TryOpen(new LogOptions
            {
                Name = "log",
                BlockBytes = LogOptions.MinBlockBytes,
                PreallocatedBytes = _preallocated,
            });
            _house.Until(() => _log.Told.IsOpen || _log.Told.IsClosed, "the log is open");
            if (!_log.Told.IsOpen || !Ends(log => log.Read(0, new byte[log.Length]), "read"))
            {
                return false;
            }

            var found = _log.Told.Reads[^1];
            Assert.Equal(found.Length, _log.Log.DurableLength);
            bool hasFailed = _house.Machine.Disk.Failures > _failures;
            int same = _accepted.Zip(found).TakeWhile(static pair => pair.First == pair.Second).Count();
            int kept = hasFailed ? Sure : same;
            Assert.InRange(same, Sure, _accepted.Count);
            Assert.InRange(found.Length, same, _preallocated > 0 ? int.MaxValue : _accepted.Count);
            Assert.True(hasFailed || found.Skip(same).All(static b => b == 0), "What follows is neither of the log nor zeros.");
            Assert.True(hasFailed || _preallocated > 0 || same == found.Length, "A log without preallocation has zeros.");
            if (kept < found.Length && !Ends(log => log.Truncate(kept), "truncated"))
            {
                return false;
            }

            _accepted = [.. found.Take(kept)];
            return true;
        }

        // Whether a call ended well, and not with the log's failure.
        private bool Ends(Func<INodeLog, LogOutcome> call, string told)
        {
            Assert.Equal(LogOutcome.Accepted, _log.Ask(() => call(_log.Log)));
            _house.Until(() => _log.Told.IsClosed || _log.Told.Told[^1].StartsWith(told, StringComparison.Ordinal), "the call has ended");
            return !_log.Told.IsClosed;
        }

        private void Note(string what)
        {
            switch (what.Split(' ')[0])
            {
                case "synced":
                    Assert.InRange(_log.Told.Synced, _promised, _accepted.Count);
                    _promised = (int)_log.Told.Synced;
                    break;
                case "truncated":
                    _promised = _truncating!.Value;
                    _accepted.RemoveRange(_promised, _accepted.Count - _promised);
                    _truncating = null;
                    break;
                case "read":
                    int offset = int.Parse(what[5..what.IndexOf('+', StringComparison.Ordinal)], CultureInfo.InvariantCulture);
                    Assert.Equal(_accepted.Skip(offset).Take(_log.Told.Reads[^1].Length), _log.Told.Reads[^1]);
                    break;
            }
        }
    }
}
