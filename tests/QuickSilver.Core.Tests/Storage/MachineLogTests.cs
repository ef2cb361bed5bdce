using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Storage.Machine;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Storage;

public sealed class MachineLogContractTests() : NodeLogContract(new MachineLogHouse());

// What only a machine's logs have: directories, permissions, threads, a kernel that refuses.
public sealed class MachineLogTests : IDisposable
{
    private const string FullDevice = "/dev/full";

    private readonly MachineLogHouse _house = new();

    public void Dispose() => _house.Dispose();

    [Fact]
    public void A_node_without_a_storage_directory_opens_no_logs_and_says_which_option_is_missing()
    {
        using var node = new MachineNode();
        var refusal = Assert.Throws<LogException>(
            () => node.Do(() => node.Environment.OpenLog(new LogOptions { Name = "log" }, new LogRecording())));
        Assert.Equal(LogError.NoDirectory, refusal.Error);
        Assert.Contains("storage directory", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Logs_are_opened_on_the_core_thread_only()
    {
        Assert.Throws<InvalidOperationException>(
            () => _house.Environment.OpenLog(new LogOptions { Name = "log" }, new LogRecording()));
    }

    [Fact]
    public void Callbacks_come_on_the_core_thread()
    {
        bool? isOnCoreThread = null;
        var recording = new LogRecording { OnEach = _ => isOnCoreThread = _house.Environment.IsOnCoreThread };
        _house.Do(() => _house.Environment.OpenLog(new LogOptions { Name = "log" }, recording));
        _house.Until(() => isOnCoreThread is not null, "a callback");
        Assert.True(isOnCoreThread);
    }

    [Fact]
    public void A_log_that_another_program_has_locked_is_not_opened()
    {
        string path = Path.Combine(_house.Folder, "log.log");
        using var other = File.OpenHandle(path, FileMode.Create, FileAccess.ReadWrite, FileShare.None);
        var log = _house.TryOpen(new LogOptions { Name = "log" });
        _house.Until(() => log.Told.IsClosed, "the opening has failed");
        Assert.Equal(LogError.InUse, log.Told.Failure!.Error);
        Assert.Contains(path, log.Told.Failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_end_of_a_node_frees_its_logs()
    {
        var log = _house.Open();
        log.AppendAndSync(NodeLogContract.Bytes("abc"));
        _house.EndNode();
        using var other = new MachineLogHouse(_house.Folder);
        Assert.Equal("abc", NodeLogContract.Text(other.Open().ReadAll()));
    }

    [Fact]
    public void A_directory_that_was_deleted_under_the_node_is_named()
    {
        Directory.Delete(_house.Folder, recursive: true);
        var log = _house.TryOpen(new LogOptions { Name = "log" });
        _house.Until(() => log.Told.IsClosed, "the opening has failed");
        Assert.Contains(_house.Folder, log.Told.Failure!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_log_that_may_not_be_written_is_refused_for_want_of_permission()
    {
        Directory.CreateDirectory(Path.Combine(_house.Folder, "log.log"));
        var log = _house.TryOpen(new LogOptions { Name = "log" });
        _house.Until(() => log.Told.IsClosed, "the opening has failed");
        Assert.Equal(LogError.NoPermission, log.Told.Failure!.Error);
    }

    [Fact]
    public void A_full_disk_fails_the_log_permanently()
    {
        Assert.SkipUnless(File.Exists(FullDevice), "This system has no device that is always full.");
        Directory.CreateDirectory(_house.Folder);
        File.CreateSymbolicLink(Path.Combine(_house.Folder, "log.log"), FullDevice);
        var log = _house.Open();
        log.Append(NodeLogContract.Bytes("abc"));
        _house.Until(() => log.Told.IsClosed, "the log has failed");

        Assert.Equal(LogError.NoSpace, log.Told.Failure!.Error);
        Assert.Contains("write 3 bytes at 0", log.Told.Failure.Message, StringComparison.Ordinal);
        Assert.Equal(LogError.NoSpace, Assert.Throws<LogException>(() => log.Append(NodeLogContract.Bytes("d"))).Error);
        Assert.Equal(LogError.NoSpace, Assert.Throws<LogException>(() => log.Ask(log.Log.Sync)).Error);
        Assert.DoesNotContain(log.Told.Told, what => what.StartsWith("written", StringComparison.Ordinal));
    }

    [Fact]
    public void A_file_that_was_cut_off_from_outside_fails_the_read()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere the lock keeps others from the file, or there is no such program.");
        var log = _house.Open();
        log.AppendAndSync(NodeLogContract.Bytes("abcdef"));
        CutOff(Path.Combine(_house.Folder, "log.log"));
        log.Ask(() => log.Log.Read(0, new byte[6]));
        _house.Until(() => log.Told.IsClosed, "the log has failed");
        Assert.Equal(LogError.Device, log.Told.Failure!.Error);
        Assert.Empty(log.Told.Reads);
    }

    [Fact]
    public void A_handler_that_throws_holds_up_no_other_log()
    {
        var one = _house.Open("one");
        var two = _house.Open("two");
        one.Told.OnEach = _ => throw new InvalidDataException();
        one.Ask(() =>
        {
            one.Log.Append([1]);
            two.Log.Append([2]);
            one.Log.Sync();
            return two.Log.Sync();
        });
        _house.Until(() => two.Told.Synced == 1 && one.Log.DurableLength == 1, "both logs are synced");
        Assert.True(_house.Log.Has(1020));
    }

    [Fact]
    public void Appends_and_syncs_allocate_nothing_on_the_core_thread()
    {
        var log = _house.Open(blockBytes: 64 << 10);
        var bytes = new byte[100];
        var step = new Repeat(_house.Environment, log.Log, bytes);
        long least = long.MaxValue;
        for (int i = 0; i < Allocations.Tries && least > 0; i++)
        {
            long before = log.Ask(GC.GetAllocatedBytesForCurrentThread);
            step.Run(_house, rounds: 300);
            // The requests of the measure itself allocate on the test's thread, but for their boxed answer.
            least = Math.Min(least, log.Ask(GC.GetAllocatedBytesForCurrentThread) - before);
        }

        Assert.InRange(least, 0, 300);
    }

    [Fact]
    public void A_read_is_done_while_a_change_of_the_disk_does_not_end()
    {
        using var folder = StorageDirectory.Claim(_house.Folder + "-lanes", "test");
        using var ends = new ManualResetEventSlim();
        using var hasRead = new ManualResetEventSlim();
        var disk = new MachineDisk(folder, "test disk", static () => { });
        disk.Submit(new Act(() => Assert.True(ends.Wait(Patience.Limit))));
        disk.SubmitRead(new Act(hasRead.Set));
        Assert.True(hasRead.Wait(Patience.Limit), "The read waits for the change.");
        ends.Set();
        disk.Stop(Patience.Limit);
        Directory.Delete(folder.FullPath, recursive: true);
    }

    [Fact]
    public void Files_that_are_no_logs_are_not_listed()
    {
        foreach (string name in new[] { "Upper.log", ".log", ".hidden.log", "a b.log", "log.txt" })
        {
            File.WriteAllText(Path.Combine(_house.Folder, name), "");
        }

        Directory.CreateDirectory(Path.Combine(_house.Folder, "folder.log"));
        _house.Open().Close();
        Assert.Equal("log", Assert.Single(_house.List().Logs).Name);
    }

    [Fact]
    public void A_directory_that_is_gone_is_named_when_its_logs_are_listed_or_deleted()
    {
        Directory.Delete(_house.Folder, recursive: true);
        Assert.Contains(_house.Folder, _house.List().Failure!.Message, StringComparison.Ordinal);
        Assert.Contains(_house.Folder, _house.Delete("log")!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_full_disk_that_has_room_for_the_append_and_not_for_more_does_not_fail_the_log()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && System.Environment.IsPrivilegedProcess, "It takes a file system of the test's own.");
        using var small = SmallDisk.TryMount(_house.Folder + "-small");
        Assert.SkipWhen(small is null, "This machine mounts no file system.");
        using var house = new MachineLogHouse(Path.Combine(small.Path, "logs"));
        var log = house.Open(blockBytes: 64 << 10, preallocated: 1 << 20);
        for (int i = 0; i < 8; i++)
        {
            log.AppendAndSync(new byte[50_000]);
        }

        Assert.Equal(400_000, log.Log.DurableLength);
        Assert.Equal(400_000, log.ReadAll().Length);
    }

    // By a program that does not ask for the lock.
    private static void CutOff(string path)
    {
        using var shell = System.Diagnostics.Process.Start("truncate", ["-s", "1", path]);
        shell.WaitForExit();
    }

    private sealed class Act(Action action) : DiskWork
    {
        internal override void Perform() => action();

        internal override void Complete()
        {
        }
    }

    // 1 MiB in memory.
    private sealed class SmallDisk : IDisposable
    {
        private SmallDisk(string path) => Path = path;

        public string Path { get; }

        public static SmallDisk? TryMount(string path)
        {
            Directory.CreateDirectory(path);
            if (Run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path))
            {
                return new SmallDisk(path);
            }

            Directory.Delete(path);
            return null;
        }

        public void Dispose()
        {
            Run("umount", Path);
            Directory.Delete(Path);
        }

        private static bool Run(string program, params string[] arguments)
        {
            using var process = System.Diagnostics.Process.Start(
                new System.Diagnostics.ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
            process.StandardError.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0;
        }
    }

    // Appends and syncs in each turn of the core thread.
    private sealed class Repeat(MachineEnvironment environment, INodeLog log, byte[] bytes) : Request
    {
        private int _left;

        public void Run(LogHouse house, int rounds)
        {
            _left = rounds;
            environment.Post(this);
            house.Until(() => _left == 0, "all rounds are done");
        }

        public override void Execute()
        {
            for (int i = 0; i < 10; i++)
            {
                log.Append(bytes);
            }

            log.Sync();
            if (--_left > 0)
            {
                environment.Post(this);
            }
        }
    }
}
