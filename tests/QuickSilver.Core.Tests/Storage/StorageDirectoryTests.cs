using System.Diagnostics;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Storage;

// Which claims of a storage directory are granted, and why others are not.
public sealed class StorageDirectoryTests : IDisposable
{
    private const string Holder = "process 4711 (orders) on web-3";

    private readonly string _folder = Path.Combine(Path.GetTempPath(), "qs-" + Guid.NewGuid().ToString("N"));

    public void Dispose()
    {
        if (Directory.Exists(_folder))
        {
            Directory.Delete(_folder, recursive: true);
        }
    }

    [Fact]
    public void A_directory_that_does_not_exist_is_made_with_those_above_it_for_the_user_alone()
    {
        string path = Path.Combine(_folder, "a", "b");
        using var claimed = StorageDirectory.Claim(path, Holder);
        Assert.Equal(path, claimed.FullPath);
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute, File.GetUnixFileMode(path));
        }
    }

    [Fact]
    public void A_relative_path_begins_at_the_current_directory()
    {
        string relative = Path.GetRelativePath(System.Environment.CurrentDirectory, _folder);
        using var claimed = StorageDirectory.Claim(relative, Holder);
        Assert.Equal(_folder, claimed.FullPath);
        Assert.True(File.Exists(Path.Combine(_folder, StorageDirectory.LockName)));
    }

    [Fact]
    public void A_second_claim_in_the_same_process_is_refused_and_names_the_process()
    {
        using var first = StorageDirectory.Claim(_folder, Holder);
        var refusal = Refusal(LogError.InUse, Path.Combine(_folder, "..", Path.GetFileName(_folder)));
        Assert.Contains($"{Holder} has it", refusal.Message, StringComparison.Ordinal);
        Assert.Contains("Give each node a storage directory of its own", refusal.Message, StringComparison.Ordinal);
        Assert.True(StorageDirectory.IsInUse(_folder, out string holder));
        Assert.Equal(Holder, holder);
    }

    [Fact]
    public void A_link_to_a_directory_that_is_in_use_is_refused()
    {
        using var first = StorageDirectory.Claim(_folder, Holder);
        string link = _folder + "-link";
        Directory.CreateSymbolicLink(link, _folder);
        try
        {
            Refusal(LogError.InUse, link);
        }
        finally
        {
            Directory.Delete(link);
        }
    }

    [Fact]
    public void A_directory_is_free_again_after_its_node_has_ended()
    {
        StorageDirectory.Claim(_folder, Holder).Dispose();
        Assert.False(StorageDirectory.IsInUse(_folder, out _));
        StorageDirectory.Claim(_folder, Holder).Dispose();
    }

    [Fact]
    public void A_process_that_is_killed_leaves_no_lock()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && File.Exists("/usr/bin/flock"), "There is no program that locks a file.");
        Directory.CreateDirectory(_folder);
        string path = Path.Combine(_folder, StorageDirectory.LockName);
        string ready = Path.Combine(_folder, "ready");
        using var other = Process.Start("/usr/bin/flock", [path, "-c", $"touch {ready}; exec sleep 600"]);
        Patience.Until(() => File.Exists(ready), "the other process has the lock");
        Assert.Contains("another node has it", Refusal(LogError.InUse, _folder).Message, StringComparison.Ordinal);
        other.Kill(entireProcessTree: true);
        other.WaitForExit();
        Patience.Until(() => !StorageDirectory.IsInUse(_folder, out _), "the system has freed the lock");
        StorageDirectory.Claim(_folder, Holder).Dispose();
    }

    [Fact]
    public void A_lock_that_is_held_for_a_moment_only_as_by_a_look_at_it_keeps_no_node_out()
    {
        StorageDirectory.Claim(_folder, Holder).Dispose();
        string path = Path.Combine(_folder, StorageDirectory.LockName);
        var look = File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, FileShare.None);
        int rests = 0;
        using var claimed = StorageDirectory.Claim(_folder, Holder, () =>
        {
            if (++rests == 2)
            {
                look.Dispose();
            }
        });
        Assert.Equal(2, rests);
    }

    [Fact]
    public void A_directory_that_was_never_used_is_not_in_use() => Assert.False(StorageDirectory.IsInUse(_folder, out _));

    [Fact]
    public void A_file_in_place_of_the_directory_is_refused()
    {
        Directory.CreateDirectory(_folder);
        string file = Path.Combine(_folder, "file");
        File.WriteAllText(file, "");
        Assert.Contains("there is a file at this path", Refusal(LogError.Unsuitable, file).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_device_in_place_of_the_directory_is_refused()
    {
        Assert.SkipUnless(File.Exists("/dev/null"), "This system has no such device.");
        Refusal(LogError.Unsuitable, "/dev/null");
    }

    [Fact]
    public void A_directory_below_a_file_is_refused_with_its_path()
    {
        Directory.CreateDirectory(_folder);
        File.WriteAllText(Path.Combine(_folder, "file"), "");
        string path = Path.Combine(_folder, "file", "logs");
        var refusal = Assert.Throws<StorageDirectoryException>(() => StorageDirectory.Claim(path, Holder));
        Assert.Contains($"'{path}'", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_link_that_leads_nowhere_is_refused()
    {
        Directory.CreateDirectory(_folder);
        string link = Path.Combine(_folder, "link");
        Directory.CreateSymbolicLink(link, Path.Combine(_folder, "gone"));
        Assert.Throws<StorageDirectoryException>(() => StorageDirectory.Claim(link, Holder));
    }

    [Fact]
    public void A_directory_in_which_the_process_may_create_nothing_is_refused()
    {
        Assert.SkipWhen(System.Environment.IsPrivilegedProcess || OperatingSystem.IsWindows(), "A privileged process may do everything.");
        if (!OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(_folder, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        }

        foreach (string path in new[] { _folder, Path.Combine(_folder, "a") })
        {
            Assert.Contains("Let the process create", Refusal(LogError.NoPermission, path).Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_lock_that_is_no_file_is_refused_for_want_of_permission()
    {
        Directory.CreateDirectory(Path.Combine(_folder, StorageDirectory.LockName));
        Refusal(LogError.NoPermission, _folder);
    }

    [Fact]
    public void A_file_system_that_is_mounted_read_only_is_refused()
    {
        var mount = DriveInfo.GetDrives().FirstOrDefault(IsReadOnly);
        Assert.SkipWhen(mount is null, "This system has no file system that is mounted read-only.");
        var refusal = Assert.Throws<StorageDirectoryException>(() => StorageDirectory.Claim(mount.Name, Holder));
        Assert.True(refusal.Error is LogError.ReadOnly or LogError.NoPermission, refusal.Message);
    }

    [Fact]
    public void A_text_of_the_holder_that_no_node_wrote_is_not_shown()
    {
        using var first = StorageDirectory.Claim(_folder, Holder);
        File.WriteAllText(Path.Combine(_folder, StorageDirectory.HolderName), "\u001b[2J");
        Assert.Contains("another node has it", Refusal(LogError.InUse, _folder).Message, StringComparison.Ordinal);
    }

    private static bool IsReadOnly(DriveInfo drive)
    {
        if (!OperatingSystem.IsLinux() || !drive.IsReady || !Directory.Exists(drive.Name))
        {
            return false;
        }

        return File.ReadLines("/proc/mounts").Select(static line => line.Split(' ')).Any(
            parts => parts[1] == drive.Name && parts[3].Split(',').Contains("ro"));
    }

    private static StorageDirectoryException Refusal(LogError error, string path)
    {
        var refusal = Assert.Throws<StorageDirectoryException>(() => StorageDirectory.Claim(path, Holder));
        Assert.Equal(error, refusal.Error);
        Assert.Contains($"'{Path.GetFullPath(path)}'", refusal.Message, StringComparison.Ordinal);
        return refusal;
    }
}
