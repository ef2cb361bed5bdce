using QuickSilver.Core.Loop;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Storage.Machine;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Environment;

// The logs of a node on a machine. The disk and its thread come with the first log. Ends of operations are completions, and are handled as
// disk work, behind all packets.
internal sealed class MachineLogs(CoreThread core, string name, StorageDirectory? directory)
{
    private DiskSource? _source;

    public bool HasDirectory => directory is not null;

    public INodeLog Open(LogOptions log, ILogObserver observer)
    {
        log.Check();
        return NodeLog.Open(new MachineLogFile(DiskFor("open", log.Name), log), log, observer);
    }

    public void List(Action<LogListing> completed)
    {
        var disk = DiskFor("list", "*");
        disk.Submit(new ListWork(disk, completed));
    }

    public void Delete(string log, Action<LogException?> completed)
    {
        LogOptions.CheckName(log);
        var disk = DiskFor("delete", log);
        disk.Submit(new DeleteWork(disk, log, completed));
    }

    /// <summary>
    /// Once the core thread does nothing more: closes all files after what their disk was given. Waits for that within the limit.
    /// </summary>
    public void End(TimeSpan limit)
    {
        if (_source is { } source)
        {
            source.Disk.Stop(limit);
        }
        else
        {
            directory?.Dispose();
        }
    }

    private MachineDisk DiskFor(string action, string log)
    {
        if (directory is null)
        {
            throw LogException.Of(LogError.NoDirectory, action, log, "the node has no storage directory");
        }

        _source ??= new DiskSource(core, directory, name + " disk");
        return _source.Disk;
    }

    // Yields one end at a time, so that each is a step that the watch can name and that other work can come between.
    private sealed class DiskSource : CompletionSource
    {
        private readonly CoreThread _core;
        private DiskWork? _work;
        // For the watch that asks what took so long.
        private DiskWork? _last;

        public DiskSource(CoreThread core, StorageDirectory directory, string threadName)
        {
            _core = core;
            Disk = new MachineDisk(directory, threadName, () => core.Post(this));
        }

        public MachineDisk Disk { get; }

        public override bool IsClosed => false;

        public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
        {
            completion = default;
            if (_work is not null || !Disk.TryTake(out _work))
            {
                return TakeOutcome.Nothing;
            }

            completion = new Completion(this, CompletionKind.Disk);
            return TakeOutcome.Taken;
        }

        public override void OnCompletion(in Completion completion)
        {
            var work = _work!;
            (_work, _last) = (null, work);
            // Before the log is notified, as its user may throw.
            _core.Post(this);
            work.Complete();
        }

        public override string ToString() => $"disk work of {_last}";
    }
}
