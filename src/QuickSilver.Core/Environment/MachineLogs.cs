using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;

namespace QuickSilver.Core.Environment;

// The logs of a node on a machine. The disk and its thread come with the first log. Ends of operations reach the core thread by its
// request queue, and are handled as disk work, behind all packets.
internal sealed class MachineLogs(CoreThread core, MachineEnvironmentOptions options)
{
    private DiskWork? _work;

    public INodeLog Open(LogOptions log, ILogObserver observer)
    {
        log.Check();
        if (options.StorageDirectory is not { } directory)
        {
            throw LogException.Of(LogError.NoDirectory, "open", log.Name, "the node has no storage directory");
        }

        _work ??= new DiskWork(core, directory, options.Name + " disk");
        return NodeLog.Open(new MachineLogFile(_work.Disk, log.Name), log, observer);
    }

    /// <summary>
    /// Once the core thread does nothing more: closes all files after what their disk was given. Waits for that within the limit.
    /// </summary>
    public void End(TimeSpan limit) => _work?.Disk.Stop(limit);

    // Handles one end at a time, so that each is a step that the watch can name. The next is put off before that, as a handler may
    // throw.
    private sealed class DiskWork : Request
    {
        private readonly CoreThread _core;
        private MachineLogFile? _file;

        public DiskWork(CoreThread core, string directory, string threadName)
        {
            _core = core;
            var arrival = new ActionRequest(() => core.Defer(WorkClass.Disk, this));
            Disk = new MachineDisk(directory, threadName, () => core.Post(arrival));
        }

        public MachineDisk Disk { get; }

        public override void Execute()
        {
            if (Disk.TryTake(out _file))
            {
                _core.Defer(WorkClass.Disk, this);
                _file.Complete();
            }
        }

        public override string ToString() => $"disk work of {_file}";
    }
}
