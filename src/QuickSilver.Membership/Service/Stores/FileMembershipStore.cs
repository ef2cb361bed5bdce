using System.Globalization;
using QuickSilver.Core.Storage;

namespace QuickSilver.Membership.Service.Stores;

// The epoch as one line of text. The new line is written to a second file, which then replaces the first one, so a crash leaves the old
// line or the new one. The directory is flushed last: without that, the old file may come back after a loss of power.
//
// The lease is a lock on a third file, which the system releases with the process, however that ends. A process that stands still keeps it.
// That file is never deleted: if it were deleted while it is locked, a second server could take the lease.
internal sealed class FileMembershipStore : IMembershipStore
{
    // EAGAIN of Linux and of macOS, and ERROR_SHARING_VIOLATION of Windows.
    private static readonly int[] LockedErrors = [11, 35, 32];

    // ENOSPC, EDQUOT of Linux and of macOS, and ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL of Windows.
    private static readonly int[] FullErrors = [28, 122, 69, 39, 112];

    private readonly string _path;
    private readonly Action<string> _flushDirectory;
    private readonly FileStream _lock;

    private FileMembershipStore(string path, Action<string> flushDirectory, FileStream held) =>
        (_path, _flushDirectory, _lock) = (path, flushDirectory, held);

    public bool IsHeld => _lock.CanWrite;

    /// <summary>Null: another server holds the file. Throws IOException or UnauthorizedAccessException when it cannot be held.</summary>
    /// <param name="path">The file.</param>
    /// <param name="flushDirectory">Makes the entries of a directory durable; null: as the operating system does it. For tests.</param>
    public static FileMembershipStore? TryAcquire(string path, Action<string>? flushDirectory = null)
    {
        try
        {
            var held = new FileStream(path + ".lock", FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            return new FileMembershipStore(path, flushDirectory ?? DirectoryFlush.Of, held);
        }
        catch (IOException locked) when (LockedErrors.Contains(locked.HResult & 0xFFFF))
        {
            return null;
        }
    }

    /// <summary>Whether it was not saved because there is no space for it.</summary>
    public static bool IsDiskFull(IOException failure) => FullErrors.Contains(failure.HResult & 0xFFFF);

    public long LoadEpoch()
    {
        if (!File.Exists(_path))
        {
            return 0;
        }

        string text = File.ReadAllText(_path).Trim();
        return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long epoch)
            ? epoch
            : throw new InvalidDataException($"'{_path}' contains no epoch. Delete it to take the epoch from returning nodes.");
    }

    public void SaveEpoch(long epoch)
    {
        if (!IsHeld)
        {
            throw new IOException($"'{_path}' was given up.");
        }

        string beside = _path + ".new";
        try
        {
            using (var stream = new FileStream(beside, FileMode.Create, FileAccess.Write))
            {
                stream.Write(System.Text.Encoding.ASCII.GetBytes(epoch.ToString(CultureInfo.InvariantCulture) + "\n"));
                stream.Flush(flushToDisk: true);
            }

            File.Move(beside, _path, overwrite: true);
            _flushDirectory(Path.GetDirectoryName(Path.GetFullPath(_path))!);
        }
        catch (UnauthorizedAccessException refused)
        {
            throw new IOException(refused.Message, refused);
        }
    }

    public void Claim(long configuration, Action onClaimed)
    {
        if (IsHeld)
        {
            onClaimed();
        }
    }

    public Task ReleaseAsync()
    {
        _lock.Dispose();
        return Task.CompletedTask;
    }
}
