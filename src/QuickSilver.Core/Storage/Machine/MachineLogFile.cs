using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Storage.Machine;

// A file of the machine.
internal sealed class MachineLogFile : ILogFile
{
    private static readonly byte[] Zeros = new byte[64 << 10];

    private readonly MachineDisk _disk;
    private readonly LogOptions _options;
    private readonly string _path;
    private readonly Job _change;
    private readonly Job _read;
    private SafeFileHandle? _handle;
    // The length of the file, what is preallocated included.
    private long _end;

    public MachineLogFile(MachineDisk disk, LogOptions options)
    {
        _disk = disk;
        _options = options;
        _path = LogFiles.PathOf(disk.Directory, options.Name);
        _change = new Job(this);
        _read = new Job(this);
    }

    public void Begin(in LogOperation operation, ILogFileOwner owner)
    {
        if (operation.Kind == LogOperationKind.Read)
        {
            _read.Set(operation, owner);
            _disk.SubmitRead(_read);
        }
        else
        {
            _change.Set(operation, owner);
            _disk.Submit(_change);
        }
    }

    public override string ToString() => _path;

    /// <summary>On the thread for changes: frees the lock.</summary>
    internal void Close()
    {
        _handle?.Dispose();
        _handle = null;
        _disk.Forget(this);
    }

    private long Do(in LogOperation operation)
    {
        switch (operation.Kind)
        {
            case LogOperationKind.Open:
                Open();
                return _end;
            case LogOperationKind.Write:
                Write(operation.Memory.Span, operation.Offset);
                if (operation.IsSynced)
                {
                    FileFlush.Data(_handle!);
                }

                break;
            case LogOperationKind.Read:
                Read(operation.Memory.Span, operation.Offset);
                break;
            case LogOperationKind.Truncate:
                RandomAccess.SetLength(_handle!, operation.Offset);
                FileFlush.All(_handle!);
                _end = operation.Offset;
                break;
            case LogOperationKind.Close:
                try
                {
                    CutOff(operation.Offset);
                }
                finally
                {
                    Close();
                }

                break;
        }

        return 0;
    }

    private void Open()
    {
        // Not shared, which is a lock: the runtime asks for it on systems where sharing is by agreement, too.
        _handle = File.OpenHandle(_path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        _disk.Remember(this);
        // What a process wrote that then died may still be the system's alone, and so may the file's name. No code may act on what a
        // loss of power can take back.
        FileFlush.All(_handle);
        DirectoryFlush.Of(_disk.Directory);
        _end = RandomAccess.GetLength(_handle);
    }

    private void Write(ReadOnlySpan<byte> bytes, long offset)
    {
        RandomAccess.Write(_handle!, bytes, offset);
        if (offset + bytes.Length > _end)
        {
            _end = offset + bytes.Length;
            Preallocate();
        }
    }

    // With zeros that are written. Room that is only promised costs a change of the journal when it is first written to, which is what a
    // flush of the data is to be spared.
    private void Preallocate()
    {
        try
        {
            long until = _end + Math.Min(_options.PreallocatedBytes, _options.MaxBytes - _end);
            while (_end < until)
            {
                int bytes = (int)Math.Min(Zeros.Length, until - _end);
                RandomAccess.Write(_handle!, Zeros.AsSpan(0, bytes), _end);
                _end += bytes;
            }
        }
        catch (IOException exception) when (FileErrors.Of(exception) == LogError.NoSpace)
        {
            // What was appended is written, and what comes next may still fit.
            _end = RandomAccess.GetLength(_handle!);
        }
    }

    private void CutOff(long length)
    {
        if (_handle is not null && length >= 0 && length < _end)
        {
            RandomAccess.SetLength(_handle, length);
        }
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

    private sealed class Job(MachineLogFile file) : DiskWork
    {
        private LogOperation _operation;
        private ILogFileOwner? _owner;
        private long _value;
        private LogException? _failure;

        public void Set(in LogOperation operation, ILogFileOwner owner)
        {
            _operation = operation;
            _owner = owner;
            _value = 0;
            _failure = null;
        }

        internal override void Perform()
        {
            try
            {
                _value = file.Do(_operation);
            }
            catch (Exception exception)
            {
                // Whatever it is, it must not end the thread: the other logs of the node need it.
                _failure = LogException.Of(FileErrors.Of(exception), Describe(_operation), file._path, exception.Message, exception);
            }
        }

        internal override void Complete() => _owner!.OnDone(_operation.Kind, _value, _failure);

        public override string ToString() => file._path;
    }
}
