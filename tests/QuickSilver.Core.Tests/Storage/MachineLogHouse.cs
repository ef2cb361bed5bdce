using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Storage;

// A machine environment with a storage directory of its own, or another house's.
internal sealed class MachineLogHouse : LogHouse
{
    private readonly bool _ownsFolder;

    public MachineLogHouse(string? folder = null)
    {
        _ownsFolder = folder is null;
        Folder = folder ?? Path.Combine(Path.GetTempPath(), "qs-" + Guid.NewGuid().ToString("N"));
        Environment = Start();
    }

    public string Folder { get; }

    public LogRecorder Log { get; } = new();

    public MachineEnvironment Environment { get; private set; }

    public override void Do(Action work)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Environment.Post(new ActionRequest(() =>
        {
            try
            {
                work();
                done.SetResult();
            }
            catch (Exception exception)
            {
                done.SetException(exception);
            }
        }));
        Assert.True(((IAsyncResult)done.Task).AsyncWaitHandle.WaitOne(Patience.Limit), "The core thread did not answer.");
        done.Task.GetAwaiter().GetResult();
    }

    public override void Until(Func<bool> condition, string what) => Patience.Until(
        () =>
        {
            bool holds = false;
            Do(() => holds = condition());
            return holds;
        },
        what);

    public void EndNode() => Environment.Dispose();

    public override void Restart()
    {
        EndNode();
        Environment = Start();
    }

    public override void Dispose()
    {
        EndNode();
        if (_ownsFolder && Directory.Exists(Folder))
        {
            Directory.Delete(Folder, recursive: true);
        }
    }

    public override INodeEnvironment Node => Environment;

    private MachineEnvironment Start() =>
        MachineEnvironment.Start(new MachineEnvironmentOptions { StorageDirectory = Folder, BufferBytes = 1 << 20 }, Log);
}
