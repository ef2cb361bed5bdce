using System.Collections.Immutable;

namespace QuickSilver.Core.Storage.Machine;

// The files of logs in a directory of the machine.
internal static class LogFiles
{
    private const string Ending = ".log";

    public static string PathOf(string directory, string name) => Path.Combine(directory, name + Ending);

    /// <summary>What lies in the directory and has the name of a log. Other files are none of the node's business.</summary>
    public static ImmutableArray<LogEntry> List(string directory) =>
    [
        .. new DirectoryInfo(directory).EnumerateFiles("*" + Ending)
            .Select(static file => new LogEntry(Path.GetFileNameWithoutExtension(file.Name), file.Length))
            .Where(static log => LogOptions.IsName(log.Name))
            .OrderBy(static log => log.Name, StringComparer.Ordinal),
    ];

    /// <summary>Deletes a log durably; does nothing if there is none.</summary>
    /// <exception cref="IOException">The log is open, or the system refuses.</exception>
    public static void Delete(string directory, string name)
    {
        string path = PathOf(directory, name);
        if (File.Exists(path))
        {
            // Other systems than Windows would delete it from under the log that has it open.
            using var free = OperatingSystem.IsWindows()
                ? null
                : File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, FileShare.None);
            File.Delete(path);
        }

        DirectoryFlush.Of(directory);
    }
}

// Lists or deletes logs, in turn with the changes of the node's logs.
internal sealed class ListWork(MachineDisk disk, Action<LogListing> completed) : DiskWork
{
    private LogListing _listing;

    internal override void Perform()
    {
        try
        {
            _listing = new LogListing(LogFiles.List(disk.Directory), null);
        }
        catch (Exception exception)
        {
            _listing = new LogListing(
                [], LogException.Of(FileErrors.Of(exception), "list", disk.Directory, exception.Message, exception));
        }
    }

    internal override void Complete() => completed(_listing);

    public override string ToString() => disk.Directory;
}

internal sealed class DeleteWork(MachineDisk disk, string name, Action<LogException?> completed) : DiskWork
{
    private LogException? _failure;

    internal override void Perform()
    {
        try
        {
            LogFiles.Delete(disk.Directory, name);
        }
        catch (Exception exception)
        {
            string path = LogFiles.PathOf(disk.Directory, name);
            _failure = LogException.Of(FileErrors.Of(exception), "delete", path, exception.Message, exception);
        }
    }

    internal override void Complete() => completed(_failure);

    public override string ToString() => LogFiles.PathOf(disk.Directory, name);
}
