using System.Diagnostics;
using QuickSilver.Core.Storage;

namespace QuickSilver.Tool.Doctor.Storage;

// Finds out how a directory would serve a node: by a file of its own, which it deletes. It creates no directory. It has the lock of the
// directory for a moment only, so that a node that starts meanwhile gets it.
internal static class StorageReader
{
    private const int PageBytes = 4096;
    private const int Syncs = 16;

    /// <param name="path">The option StorageDirectory; null: the node keeps nothing on disk.</param>
    public static StorageFacts? Read(string? path)
    {
        if (path is null)
        {
            return null;
        }

        string full = Path.GetFullPath(path);
        try
        {
            return Probe(full);
        }
        catch (StorageDirectoryException refusal)
        {
            return new StorageFacts(full, refusal.Message, Holder: null) { LacksPermission = refusal.Error == LogError.NoPermission };
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            var refusal = new StorageDirectoryException(FileErrors.Of(exception), full, exception.Message, exception);
            return new StorageFacts(full, refusal.Message, Holder: null) { LacksPermission = refusal.Error == LogError.NoPermission };
        }
    }

    private static StorageFacts Probe(string full)
    {
        StorageDirectory.CheckKind(full);
        string existing = full;
        while (!Directory.Exists(existing))
        {
            existing = Path.GetDirectoryName(existing) ?? throw new DirectoryNotFoundException($"'{existing}' does not exist");
            StorageDirectory.CheckKind(existing);
        }

        string? holder = StorageDirectory.IsInUse(full, out string process) ? process : null;
        var drive = new DriveInfo(existing);
        return new StorageFacts(full, Refusal: null, holder)
        {
            Exists = existing == full,
            SyncTime = Measure(existing),
            FileSystem = drive.DriveFormat,
            IsRemote = drive.DriveType == DriveType.Network,
            FreeBytes = drive.AvailableFreeSpace,
        };
    }

    private static TimeSpan Measure(string directory)
    {
        string path = Path.Combine(directory, $"qsm-doctor-{Guid.NewGuid():N}");
        using var file = File.OpenHandle(
            path, FileMode.CreateNew, FileAccess.ReadWrite, FileShare.None, FileOptions.DeleteOnClose);
        StorageDirectory.CheckLock(directory, path);
        var page = new byte[PageBytes];
        var times = new TimeSpan[Syncs];
        for (int i = 0; i < Syncs; i++)
        {
            long began = Stopwatch.GetTimestamp();
            RandomAccess.Write(file, page, (long)i * PageBytes);
            FileFlush.All(file);
            times[i] = Stopwatch.GetElapsedTime(began);
        }

        Array.Sort(times);
        return times[Syncs / 2];
    }
}
