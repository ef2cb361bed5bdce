using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Storage;

// The storage directory of a node, as long as the node has it. A lock on a file in it keeps other nodes out, of this and other processes,
// so that each log has one writer. The system frees the lock when the process ends, however it ends.
internal sealed class StorageDirectory : IDisposable
{
    /// <summary>The file whose lock is the claim. It stays: a lock on a file that is deleted would exclude no node.</summary>
    public const string LockName = "node.lock";

    /// <summary>The file with the process that has the directory, for the message to the next one. Only the lock decides.</summary>
    public const string HolderName = "node.txt";

    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
    private const int MaxHolderCharacters = 200;
    private const int MaxAttempts = 3;

    private static readonly TimeSpan AttemptInterval = TimeSpan.FromMilliseconds(20);

    private readonly SafeFileHandle _lock;

    private StorageDirectory(string fullPath, SafeFileHandle locked)
    {
        FullPath = fullPath;
        _lock = locked;
    }

    public string FullPath { get; }

    /// <summary>
    /// Takes the directory for a node until Dispose. One that does not exist is created, for the user of the process alone, and its name is
    /// made durable.
    /// </summary>
    /// <param name="path">The path. A relative one begins at the current directory of the process.</param>
    /// <param name="holder">The process, for the message to the next one that wants the directory.</param>
    /// <param name="rest">Waits a moment before the next attempt; null: sleeps.</param>
    /// <exception cref="StorageDirectoryException">It cannot be used; the message says why.</exception>
    public static StorageDirectory Claim(string path, string holder, Action? rest = null)
    {
        string fullPath = Path.GetFullPath(path);
        try
        {
            CheckKind(fullPath);
            Create(fullPath);
            return new StorageDirectory(fullPath, Lock(fullPath, holder, rest ?? Rest));
        }
        catch (Exception exception) when (exception is UnauthorizedAccessException or IOException and not StorageDirectoryException)
        {
            throw new StorageDirectoryException(FileErrors.Of(exception), fullPath, exception.Message, exception);
        }
    }

    /// <summary>Refuses a path at which there is something else than a directory.</summary>
    public static void CheckKind(string fullPath)
    {
        if (FileKinds.Of(fullPath) is FileKind.Regular or FileKind.Special)
        {
            throw new StorageDirectoryException(LogError.Unsuitable, fullPath, "there is a file at this path");
        }
    }

    /// <summary>
    /// Refuses a file system that grants a lock that the caller has: some network file systems grant every lock, and the runtime ignores
    /// that a system has none.
    /// </summary>
    public static void CheckLock(string fullPath, string lockPath)
    {
        try
        {
            File.OpenHandle(lockPath, FileMode.Open, FileAccess.ReadWrite, FileShare.None).Dispose();
        }
        catch (IOException exception) when (FileErrors.Of(exception) == LogError.InUse)
        {
            return;
        }

        throw new StorageDirectoryException(
            LogError.Unsuitable, fullPath, "its file system has no locks, so two nodes could write to the same log");
    }

    /// <summary>
    /// Whether a node has the directory at present, and which process, in words. Has the lock for a moment, which a claim waits for.
    /// </summary>
    public static bool IsInUse(string path, out string holder)
    {
        string fullPath = Path.GetFullPath(path);
        string lockPath = Path.Combine(fullPath, LockName);
        holder = "";
        if (!File.Exists(lockPath))
        {
            return false;
        }

        try
        {
            using var free = File.OpenHandle(lockPath, FileMode.Open, FileAccess.ReadWrite, FileShare.None);
            return false;
        }
        catch (IOException exception) when (FileErrors.Of(exception) == LogError.InUse)
        {
            holder = HolderOf(fullPath);
            return true;
        }
    }

    public void Dispose() => _lock.Dispose();

    public override string ToString() => FullPath;

    private static void Create(string fullPath)
    {
        if (Directory.Exists(fullPath))
        {
            return;
        }

        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(fullPath);
        }
        else
        {
            Directory.CreateDirectory(fullPath, OwnerOnly);
        }

        DirectoryFlush.Of(Path.GetDirectoryName(fullPath) ?? fullPath);
    }

    private static SafeFileHandle Lock(string fullPath, string holder, Action rest)
    {
        string lockPath = Path.Combine(fullPath, LockName);
        var locked = Take(fullPath, lockPath, rest);
        try
        {
            CheckLock(fullPath, lockPath);
            FileFlush.All(locked);
            DirectoryFlush.Of(fullPath);
            WriteHolder(fullPath, holder);
            return locked;
        }
        catch
        {
            locked.Dispose();
            throw;
        }
    }

    private static SafeFileHandle Take(string fullPath, string lockPath, Action rest)
    {
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                return File.OpenHandle(lockPath, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException exception) when (FileErrors.Of(exception) == LogError.InUse)
            {
                if (attempt == MaxAttempts)
                {
                    throw new StorageDirectoryException(LogError.InUse, fullPath, $"{HolderOf(fullPath)} has it", exception);
                }

                // A look at whether it is in use has the lock for a moment.
                rest();
            }
        }
    }

    private static void Rest() => Thread.Sleep(AttemptInterval);

    private static void WriteHolder(string fullPath, string holder)
    {
        try
        {
            File.WriteAllText(Path.Combine(fullPath, HolderName), holder);
        }
        catch (IOException)
        {
            // A full disk. Its logs can be read and truncated, so the node starts.
        }
    }

    private static string HolderOf(string fullPath)
    {
        try
        {
            string text = File.ReadAllText(Path.Combine(fullPath, HolderName)).Trim();
            return text.Length is > 0 and <= MaxHolderCharacters && !text.Any(char.IsControl) ? text : "another node";
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return "another node";
        }
    }
}

// A directory that a node cannot have.
internal sealed class StorageDirectoryException(LogError error, string fullPath, string reason, Exception? inner = null)
    : IOException($"Cannot use the storage directory '{fullPath}': {reason.TrimEnd('.')}. {AdviceOn(error)}", inner)
{
    public LogError Error => error;

    private static string AdviceOn(LogError error) => error switch
    {
        LogError.InUse => "Give each node a storage directory of its own, or end that node first.",
        LogError.NoPermission => "Let the process create, read and write files in this directory, or name another one.",
        LogError.ReadOnly => "Mount its file system for writing, or name a directory of another one.",
        LogError.NoSpace => "Free space on the disk, or name a directory of another one.",
        LogError.Unsuitable => "Name a directory on a local disk.",
        _ => "Check the disk, or name a directory of another one.",
    };
}
