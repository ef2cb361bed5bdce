using QuickSilver.Simulation.Disks;

namespace QuickSilver.Simulation.Tests.Disks;

// What the end of a process, a loss of power and a disk that lies leave of a log.
public sealed class DiskCrashTests
{
    private const int Sector = DiskModel.SectorBytes;

    private readonly SimulatedLogHouse _house = new();

    [Fact]
    public void Bytes_dropped_by_a_failed_sync_can_be_read_are_never_durable_and_go_with_a_truncation()
    {
        var log = _house.Open();
        log.AppendAndSync(Filled(100, 1));
        _house.Model = new DiskModel { SyncErrors = 1 };
        log.Ask(() =>
        {
            log.Log.Append(Filled(50, 2));
            return log.Log.Sync();
        });
        _house.Until(() => log.Told.IsClosed, "the log has failed");
        Assert.Equal(100, log.Log.DurableLength);
        _house.Model = new DiskModel();

        // The system takes what it could not write for written: opening again finds it and syncs without complaint.
        var again = _house.Open();
        Assert.Equal([.. Filled(100, 1), .. Filled(50, 2)], again.ReadAll());
        again.Sync();
        _house.LosePower();
        Assert.Equal([.. Filled(100, 1), .. Filled(50, 0)], _house.Open("log").ReadAll());

        _house.Restart();
        var truncated = _house.Open();
        truncated.Truncate(100);
        truncated.AppendAndSync(Filled(50, 3));
        _house.LosePower();
        Assert.Equal([.. Filled(100, 1), .. Filled(50, 3)], _house.Open().ReadAll());
    }

    [Fact]
    public void A_loss_of_power_leaves_a_random_front_part_of_what_was_not_synced()
    {
        var lengths = Seeds(50).Select(seed =>
        {
            var house = new SimulatedLogHouse(seed);
            var log = house.Open();
            log.AppendAndSync(Filled(100, 1));
            log.Append(Filled(1000, 2));
            house.Until(() => log.Told.Written == 1100, "all is written");
            house.LosePower();
            var left = house.Open().ReadAll();
            Assert.Equal([.. Filled(100, 1), .. Filled(left.Length - 100, 2)], left);
            Assert.Equal(1100 - left.Length, house.Machine.Disk.TornBytes);
            return left.Length;
        }).ToArray();
        Assert.True(lengths.Distinct().Count() > 20);
        Assert.Contains(lengths, length => length < 400);
        Assert.Contains(lengths, length => length > 800);
    }

    [Fact]
    public void Sectors_in_between_are_lost_where_the_model_says_so_and_never_of_what_was_synced()
    {
        int holes = 0;
        foreach (ulong seed in Seeds(20))
        {
            var house = new SimulatedLogHouse(seed);
            house.Model = new DiskModel { LostSectors = 0.3 };
            var log = house.Open(blockBytes: 64 << 10);
            log.AppendAndSync(Filled(700, 1));
            log.Append(Filled(20 * Sector, 2));
            house.Until(() => log.Told.Written == 700 + (20 * Sector), "all is written");
            house.LosePower();
            var left = house.Open().ReadAll();
            Assert.Equal(Filled(700, 1), left[..700]);
            for (int at = 700; at < left.Length;)
            {
                int next = Math.Min(left.Length, ((at / Sector) + 1) * Sector);
                Assert.Single(left[at..next].Distinct());
                // What comes after a lost sector may be there.
                holes += left[at] == 0 && left[next..].Contains((byte)2) ? 1 : 0;
                at = next;
            }
        }

        Assert.True(holes > 10);
    }

    [Fact]
    public void A_loss_of_power_leaves_zeros_of_the_preallocation_behind_what_was_written()
    {
        var lengths = Seeds(50).Select(seed =>
        {
            var house = new SimulatedLogHouse(seed);
            var log = house.Open(preallocated: 1 << 14);
            log.AppendAndSync(Filled(100, 1));
            log.Append(Filled(1000, 2));
            house.Until(() => log.Told.Written == 1100, "all is written");
            house.LosePower();
            var left = house.Open().ReadAll();
            Assert.Equal(100 + (1 << 14), left.Length);
            int written = left.Count(static b => b == 2);
            Assert.Equal([.. Filled(100, 1), .. Filled(written, 2), .. Filled(left.Length - 100 - written, 0)], left);
            return written;
        }).ToArray();
        Assert.True(lengths.Distinct().Count() > 20);
    }

    [Fact]
    public void A_process_that_ends_during_a_deletion_has_deleted_the_log_or_not()
    {
        var outcomes = Seeds(20).Select(seed =>
        {
            var house = new SimulatedLogHouse(seed);
            var log = house.Open();
            log.AppendAndSync(Filled(100, 1));
            log.Close();
            house.Do(() => house.Node.DeleteLog("log", static _ => Assert.Fail("The process has ended.")));
            house.Restart();
            return house.List().Logs is [{ Bytes: var bytes }] ? bytes : 0;
        }).Distinct().Order();
        Assert.Equal([0, 100], outcomes);
    }

    [Fact]
    public void Lost_syncs_are_reported_as_done_and_lost_with_the_power()
    {
        _house.Model = new DiskModel { LosesSyncs = true };
        var log = _house.Open();
        for (int i = 0; i < 10; i++)
        {
            log.AppendAndSync(Filled(100, (byte)i));
        }

        Assert.Equal(1000, log.Log.DurableLength);
        _house.Restart();
        Assert.Equal(1000, _house.Open().Log.Length);
        _house.LosePower();
        Assert.NotEqual(1000, _house.Open().Log.Length);
    }

    [Fact]
    public void A_truncation_whose_sync_is_lost_may_bring_the_old_end_back()
    {
        var outcomes = Seeds(20).Select(seed =>
        {
            var house = new SimulatedLogHouse(seed);
            var log = house.Open();
            log.AppendAndSync(Filled(100, 1));
            house.Model = new DiskModel { LosesSyncs = true };
            log.Truncate(10);
            house.LosePower();
            return house.Open().Log.Length;
        }).Distinct().Order();
        Assert.Equal([10, 100], outcomes);
    }

    [Fact]
    public void The_end_of_the_process_leaves_a_part_of_the_write_that_was_under_way_and_none_of_what_waited()
    {
        var lengths = Seeds(50).Select(seed =>
        {
            var house = new SimulatedLogHouse(seed);
            var log = house.Open();
            log.AppendAndSync(Filled(10, 1));
            log.Ask(() =>
            {
                log.Log.Append(Filled(100, 2));
                return log.Log.Append(Filled(100, 3));
            });
            int told = log.Told.Told.Count;
            house.Restart();
            var left = house.Open().ReadAll();
            Assert.Equal([.. Filled(10, 1), .. Filled(left.Length - 10, 2)], left);
            house.Cluster.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(told, log.Told.Told.Count);
            return left.Length;
        }).ToArray();
        Assert.True(lengths.Distinct().Count() > 20);
    }

    private static IEnumerable<ulong> Seeds(int count) => Enumerable.Range(1, count).Select(seed => (ulong)seed);

    private static byte[] Filled(int count, byte value)
    {
        var bytes = new byte[count];
        bytes.AsSpan().Fill(value);
        return bytes;
    }
}
