using QuickSilver.Core.Storage;
using QuickSilver.Simulation.Disks;

namespace QuickSilver.Simulation.Tests.Disks;

// Disks that are read-only, gone, or rot: F9 and F29.
public sealed class DiskFaultTests
{
    private readonly SimulatedLogHouse _house = new();

    [Fact]
    public void A_log_on_a_disk_that_has_become_read_only_can_be_read_and_fails_with_the_first_write()
    {
        var log = _house.Open();
        log.AppendAndSync(Filled(100, 1));
        _house.Model = new DiskModel { IsReadOnly = true };
        Assert.Equal(Filled(100, 1), log.ReadAll());
        log.Sync();
        log.Append(Filled(10, 2));
        _house.Until(() => log.Told.IsClosed, "the log has failed");
        Assert.Equal((LogError.ReadOnly, 100), (log.Told.Failure!.Error, log.Log.DurableLength));
        Assert.Contains("Mount the file system for writing", log.Told.Failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_sync_on_a_disk_that_has_become_read_only_since_the_write_fails()
    {
        var log = _house.Open();
        log.AppendAndSync(Filled(100, 1));
        log.Append(Filled(10, 2));
        _house.Until(() => log.Told.Written == 110, "all is written");
        _house.Model = new DiskModel { IsReadOnly = true };
        log.Ask(log.Log.Sync);
        _house.Until(() => log.Told.IsClosed, "the log has failed");
        Assert.Equal((LogError.ReadOnly, 100), (log.Told.Failure!.Error, log.Log.DurableLength));
    }

    [Fact]
    public void On_a_read_only_disk_logs_are_listed_and_neither_opened_nor_deleted()
    {
        _house.Open().Close();
        _house.Model = new DiskModel { IsReadOnly = true };
        Assert.Equal("log", Assert.Single(_house.List().Logs).Name);
        Assert.Equal(LogError.ReadOnly, _house.Delete("log")?.Error);
        Assert.Equal(LogError.ReadOnly, Refusal());
        _house.Model = new DiskModel();
        Assert.Null(_house.Delete("log"));
    }

    [Fact]
    public void On_a_disk_that_is_gone_everything_fails_and_what_was_synced_is_there_when_it_is_back()
    {
        var log = _house.Open();
        var idle = _house.Open("idle");
        log.AppendAndSync(Filled(100, 1));
        log.Append(Filled(1000, 2));
        _house.Until(() => log.Told.Written == 1100, "all is written");
        _house.Model = new DiskModel { IsAway = true };
        Assert.Equal(LogError.Device, _house.List().Failure?.Error);
        Assert.Equal(LogError.Device, _house.Delete("log")?.Error);
        Assert.Equal(LogError.Device, Refusal());
        _house.Model = new DiskModel();

        // Nothing was asked of it meanwhile, and yet it does not continue: its file is not what it was.
        log.Ask(log.Log.Sync);
        idle.Ask(() => idle.Log.Read(0, new byte[1]));
        _house.Until(() => log.Told.IsClosed && idle.Told.IsClosed, "the logs have failed");
        Assert.Equal((LogError.Device, 100), (log.Told.Failure!.Error, log.Log.DurableLength));

        var left = _house.Open().ReadAll();
        Assert.Equal([.. Filled(100, 1), .. Filled(left.Length - 100, 2)], left);
    }

    [Fact]
    public void A_bit_that_rots_is_read_and_stays_so_after_a_loss_of_power()
    {
        var log = _house.Open();
        log.AppendAndSync(Filled(1000, 1));
        _house.Machine.Disk.Rot(1);
        Assert.Equal(1, _house.Machine.Disk.RottenBits);
        var rotten = log.ReadAll();
        byte changed = Assert.Single(rotten, static one => one != 1);
        Assert.True(System.Numerics.BitOperations.IsPow2(changed ^ 1));
        _house.LosePower();
        Assert.Equal(rotten, _house.Open().ReadAll());
    }

    [Fact]
    public void On_an_empty_disk_nothing_rots()
    {
        _house.Open();
        _house.Machine.Disk.Rot(3);
        Assert.Equal(0, _house.Machine.Disk.RottenBits);
    }

    [Fact]
    public void A_disk_that_a_fault_slows_down_takes_that_much_longer()
    {
        var log = _house.Open();
        _house.Model = new DiskModel { AccessTime = TimeSpan.Zero, SyncTime = TimeSpan.Zero, Delay = TimeSpan.FromMilliseconds(70) };
        var before = _house.Cluster.Now;
        log.Append(Filled(10, 1));
        _house.Until(() => log.Told.Written == 10, "it is written");
        Assert.Equal(TimeSpan.FromMilliseconds(70), _house.Cluster.Now - before);
    }

    private LogError? Refusal()
    {
        var log = _house.TryOpen(new LogOptions { Name = "other" });
        _house.Until(() => log.Told.IsClosed, "the opening has failed");
        return log.Told.Failure?.Error;
    }

    private static byte[] Filled(int count, byte value)
    {
        var bytes = new byte[count];
        bytes.AsSpan().Fill(value);
        return bytes;
    }
}
