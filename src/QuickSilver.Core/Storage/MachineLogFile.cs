using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Storage;

// A file of the machine. It is its own element in the disk's queues, because it has one operation at a time: the core thread writes
// its fields before Submit and after Complete, the disk thread in between.
internal sealed class MachineLogFile : ILogFile
{
    private readonly MachineDisk _disk;
    private readonly string _path;
    private SafeFileHandle? _handle;
    private LogOperation _operation;
    private ILogFileOwner? _owner;
    private long _value;
    private LogException? _failure;

    public MachineLogFile(MachineDisk disk, string name)
    {
        _disk = disk;
        _path = Path.Combine(disk.Directory, name + ".log");
    }

    public void Begin(in LogOperation operation, ILogFileOwner owner)
    {
        _operation = operation;
        _owner = owner;
        _disk.Submit(this);
    }

    /// <summary>On the disk thread: does the operation.</summary>
    internal void Perform()
    {
        _value = 0;
        _failure = null;
        try
        {
            Do(_operation);
        }
        catch (Exception exception)
        {
            // Whatever it is, it must not end the thread: the other logs of the node need it.
            _failure = LogException.Of(FileErrors.Of(exception), Describe(_operation), _path, exception.Message, exception);
        }
    }

    /// <summary>On the core thread: notifies the log. It may begin the next operation within.</summary>
    internal void Complete() => _owner!.OnDone(_value, _failure);

    public override string ToString() => _path;

    /// <summary>On the disk thread: frees the lock.</summary>
    internal void Close()
    {
        _handle?.Dispose();
        _handle = null;
        _disk.Forget(this);
    }

    private void Do(in LogOperation operation)
    {
        switch (operation.Kind)
        {
            case LogOperationKind.Open:
                Open();
                break;
            case LogOperationKind.Write:
                RandomAccess.Write(_handle!, operation.Memory.Span, operation.Offset);
                if (operation.IsSynced)
                {
                    RandomAccess.FlushToDisk(_handle!);
                }

                break;
            case LogOperationKind.Read:
                Read(operation.Memory.Span, operation.Offset);
                break;
            case LogOperationKind.Truncate:
                RandomAccess.SetLength(_handle!, operation.Offset);
                RandomAccess.FlushToDisk(_handle!);
                break;
            case LogOperationKind.Close:
                Close();
                break;
        }
    }

    private void Open()
    {
        // Not shared, which is a lock: the runtime asks for it on systems where sharing is by agreement, too.
        _handle = File.OpenHandle(_path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        _disk.Remember(this);
        // What a process wrote that then died may still be the system's alone, and so may the file's name. No code may act on what a
        // loss of power can take back.
        RandomAccess.FlushToDisk(_handle);
        DirectoryFlush.Of(_disk.Directory);
        _value = RandomAccess.GetLength(_handle);
    }

    private void Read(Span<byte> into, long offset)
    {
        while (into.Length > 0)
        {
            int read = RandomAccess.Read(_handle!, into, offset);
            if (read == 0)
            {
                throw new EndOfStreamException($"the file ends at {offset}, before the end of the log");
            }

            into = into[read..];
            offset += read;
        }
    }

    private static string Describe(in LogOperation operation) => operation.Kind switch
    {
        LogOperationKind.Write when operation.Memory.Length == 0 => "sync",
        LogOperationKind.Write when operation.IsSynced => $"write and sync {operation.Memory.Length} bytes at {operation.Offset} of",
        LogOperationKind.Write => $"write {operation.Memory.Length} bytes at {operation.Offset} of",
        LogOperationKind.Read => $"read {operation.Memory.Length} bytes at {operation.Offset} of",
        LogOperationKind.Truncate => $"truncate to {operation.Offset} bytes",
        LogOperationKind.Close => "close",
        _ => "open",
    };
}
