using QuickSilver.Core.Storage;
using QuickSilver.Core.Tests.Storage;
using QuickSilver.Simulation.Disks;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Disks;

public sealed class SimulatedLogContractTests() : NodeLogContract(new SimulatedLogHouse());

// A simulated disk that is slow, full or failing, and what belongs to it: its machine, its chance, its model.
public sealed class SimulatedLogTests
{
    private readonly SimulatedLogHouse _house = new();

    [Fact]
    public void A_slow_disk_makes_a_sync_take_as_long_as_its_model_says()
    {
        var log = _house.Open();
        _house.Model = new DiskModel
        {
            AccessTime = TimeSpan.FromMilliseconds(3),
            SyncTime = TimeSpan.FromMilliseconds(40),
            BytesPerSecond = 100_000,
        };
        var before = _house.Cluster.Now;
        log.AppendAndSync(new byte[1000]);
        // The append is written at once; the sync comes during that, and is an operation of its own.
        Assert.Equal(TimeSpan.FromMilliseconds(3 + 10 + 3 + 40), _house.Cluster.Now - before);
    }

    [Fact]
    public void One_disk_serves_all_logs_of_its_machine_one_after_the_other()
    {
        var one = _house.Open("one");
        var two = _house.Open("two");
        _house.Model = new DiskModel { AccessTime = TimeSpan.Zero, SyncTime = TimeSpan.FromMilliseconds(10) };
        var before = _house.Cluster.Now;
        _house.Do(() =>
        {
            one.Log.Sync();
            two.Log.Sync();
        });
        _house.Until(() => two.Told.Told.Contains("synced 0"), "the second log is synced");
        Assert.Equal(TimeSpan.FromMilliseconds(20), _house.Cluster.Now - before);
    }

    [Fact]
    public void A_read_takes_its_own_time_beside_a_sync_of_any_log()
    {
        var one = _house.Open("one");
        var two = _house.Open("two");
        one.AppendAndSync(Filled(10, 1));
        two.AppendAndSync(Filled(10, 2));
        _house.Model = new DiskModel { AccessTime = TimeSpan.FromMilliseconds(1), SyncTime = TimeSpan.FromMilliseconds(100) };
        var before = _house.Cluster.Now;
        _house.Do(() =>
        {
            one.Log.Sync();
            one.Log.Read(0, new byte[10]);
            two.Log.Read(0, new byte[10]);
        });
        _house.Until(() => two.Told.Reads.Count == 1, "the reads have ended");
        Assert.Equal(TimeSpan.FromMilliseconds(2), _house.Cluster.Now - before);
        Assert.Equal(Filled(10, 1), one.Told.Reads.Single());
        _house.Until(() => one.Told.Told[^1] == "synced 10", "the log is synced");
        Assert.Equal(TimeSpan.FromMilliseconds(101), _house.Cluster.Now - before);
    }

    [Fact]
    public void A_disk_without_room_to_preallocate_takes_what_fits()
    {
        _house.Model = new DiskModel { CapacityBytes = 5000 };
        var log = _house.Open(preallocated: 1 << 16);
        log.AppendAndSync(new byte[3000]);
        Assert.Equal(5000, _house.List().Logs[0].Bytes);
        log.AppendAndSync(new byte[2000]);
        log.Append(new byte[1]);
        _house.Until(() => log.Told.IsClosed, "the log has failed");
        Assert.Equal((LogError.NoSpace, 5000), (log.Told.Failure!.Error, log.Log.DurableLength));
    }

    [Fact]
    public void A_full_disk_fails_the_log_that_writes_and_it_continues_once_there_is_room_and_it_is_opened_again()
    {
        var other = _house.Open("other");
        other.AppendAndSync(new byte[600]);
        var log = _house.Open();
        log.AppendAndSync(new byte[300]);
        _house.Model = new DiskModel { CapacityBytes = 1000 };
        log.Append(new byte[200]);
        _house.Until(() => log.Told.IsClosed, "the log has failed");
        Assert.Equal(LogError.NoSpace, log.Told.Failure!.Error);
        Assert.Contains("Free space", log.Told.Failure.Message, StringComparison.Ordinal);
        Assert.Equal(300, log.Log.DurableLength);

        other.Truncate(0);
        var again = _house.Open();
        // A part of the write that failed is there: a program that reads a log back must expect a piece of a record at its end.
        Assert.Equal(400, again.Log.Length);
        again.AppendAndSync(new byte[200]);
    }

    [Theory]
    [InlineData("write")]
    [InlineData("sync")]
    [InlineData("read")]
    public void An_error_of_the_disk_fails_the_log_permanently(string what)
    {
        var log = _house.Open();
        log.AppendAndSync(new byte[100]);
        _house.Model = what switch
        {
            "write" => new DiskModel { WriteErrors = 1 },
            "sync" => new DiskModel { SyncErrors = 1 },
            _ => new DiskModel { ReadErrors = 1 },
        };
        log.Ask(() => what switch
        {
            "write" => log.Log.Append(new byte[50]),
            "sync" => log.Log.Sync(),
            _ => log.Log.Read(0, new byte[1]),
        });
        _house.Until(() => log.Told.IsClosed, "the log has failed");
        Assert.Equal(LogError.Device, log.Told.Failure!.Error);
        _house.Model = new DiskModel();
        Assert.Throws<LogException>(() => log.Append(new byte[1]));
        Assert.Equal(1, _house.Machine.Disk.Failures);
    }

    [Fact]
    public void A_paused_node_learns_what_its_disk_has_done_when_it_continues()
    {
        var log = _house.Open();
        log.Ask(() =>
        {
            log.Log.Append(Filled(10, 1));
            return log.Log.Sync();
        });
        _house.Machine.Pause();
        _house.Cluster.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(0, log.Told.Written);
        _house.Machine.Resume();
        _house.Until(() => log.Told.Synced == 10, "the log is synced");
    }

    [Fact]
    public void Healing_ends_what_is_wrong_with_a_disk_and_leaves_how_fast_it_is()
    {
        var slow = new DiskModel { AccessTime = TimeSpan.FromSeconds(1), SyncTime = TimeSpan.FromSeconds(2), BytesPerSecond = 1000 };
        _house.Model = slow with
        {
            CapacityBytes = 1,
            Delay = TimeSpan.FromSeconds(3),
            IsReadOnly = true,
            IsAway = true,
            WriteErrors = 1,
            SyncErrors = 1,
            ReadErrors = 1,
            LosesSyncs = true,
            LostSectors = 1,
        };
        _house.Cluster.Heal();
        Assert.Equal(slow, _house.Model);
    }

    [Fact]
    public void A_machine_whose_node_opens_no_log_has_no_disk()
    {
        _house.Do(() => { });
        _house.Restart();
        Assert.Null(_house.Cluster.FindDisk(_house.Machine));
        _house.Open();
        Assert.NotNull(_house.Cluster.FindDisk(_house.Machine));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("data")]
    public void A_whole_node_opens_logs_if_it_has_a_storage_directory_and_none_is_made_on_this_machine(string? directory)
    {
        var options = new QuickSilverOptions { StorageDirectory = directory };
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 1, NodeOptions = options });
        cluster.Start();
        var node = cluster.Machines.Nodes[0].Environment;
        var refusal = Record.Exception(() => node.OpenLog(new LogOptions { Name = "log" }, new LogRecording()));
        Assert.Equal(directory is null ? LogError.NoDirectory : null, (refusal as LogException)?.Error);
        Assert.False(Directory.Exists("data"));
    }

    [Fact]
    public void A_node_that_starts_again_with_another_directory_has_other_logs()
    {
        _house.Open().AppendAndSync(Filled(10, 1));
        _house.Restart();
        _house.Machine.Environment.StorageDirectory = "other";
        Assert.Equal(0, _house.Open().Log.Length);
        _house.Restart();
        Assert.Equal(10, _house.Open().Log.Length);
    }

    [Fact]
    public void Disks_of_two_machines_hold_files_of_their_own()
    {
        _house.Open().AppendAndSync(Filled(10, 1));
        var other = _house.Cluster.AddNode();
        var told = new LogRecording();
        var log = other.Environment.OpenLog(new LogOptions { Name = "log" }, told);
        _house.Until(() => told.IsOpen, "the log is open");
        Assert.Equal(0, log.Length);
    }

    [Fact]
    public void One_seed_is_one_run_and_another_seed_another()
    {
        var first = Run(5);
        var second = Run(5);
        Assert.Null(TraceHash.FirstDifference(first, second));
        Assert.Equal(first.Value, second.Value);
        Assert.NotEqual(first.Value, Run(6).Value);

        static TraceHash Run(ulong seed)
        {
            var house = new SimulatedLogHouse(seed, recordTrace: true);
            house.Model = new DiskModel { Jitter = TimeSpan.FromMilliseconds(1) };
            for (int i = 0; i < 5; i++)
            {
                var log = house.Open();
                log.AppendAndSync(Filled(100, 1));
                log.Append(Filled(100, 2));
                house.LosePower();
            }

            house.Open().ReadAll();
            return house.Cluster.Trace;
        }
    }

    [Fact]
    public void Models_that_cannot_be_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new DiskModel { WriteErrors = 1.1 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new DiskModel { LostSectors = -1 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new DiskModel { SyncTime = TimeSpan.FromTicks(-1) });
        Assert.Throws<ArgumentOutOfRangeException>(() => new DiskModel { BytesPerSecond = 0 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new DiskModel { CapacityBytes = -1 });
    }

    private static byte[] Filled(int count, byte value)
    {
        var bytes = new byte[count];
        bytes.AsSpan().Fill(value);
        return bytes;
    }
}
