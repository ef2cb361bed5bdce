namespace QuickSilver.Core.Storage;

internal enum LogError
{
    /// <summary>The node has no storage directory.</summary>
    NoDirectory = 0,

    /// <summary>The log is open already, in this node or another.</summary>
    InUse,

    NoPermission,

    /// <summary>The disk or a quota is full.</summary>
    NoSpace,

    /// <summary>The file system can be read and not be written.</summary>
    ReadOnly,

    /// <summary>What is at the path, or its file system, cannot hold logs.</summary>
    Unsuitable,

    /// <summary>Anything else that the system says, as a rule an input or output error.</summary>
    Device,
}

internal sealed class LogException(LogError error, string message, Exception? inner = null) : IOException(message, inner)
{
    public LogError Error { get; } = error;

    /// <summary>What failed, on what, why, and what to do.</summary>
    public static LogException Of(LogError error, string action, string file, string reason, Exception? inner = null) =>
        new(error, $"Cannot {action} log file '{file}': {reason.TrimEnd('.')}. {Advice(error)}", inner);

    private static string Advice(LogError error) => error switch
    {
        LogError.NoDirectory => "Set the storage directory of the node.",
        LogError.InUse => "Close it first, or give each node a storage directory of its own.",
        LogError.NoPermission => "Let the process create, read and write files in this directory.",
        LogError.ReadOnly => "Mount the file system for writing, then open the log again.",
        LogError.NoSpace => "Free space on the disk, then open the log again.",
        _ => "Check the disk. Data that was not synced may be lost. Truncate the log to its durable length before you use it again.",
    };
}
