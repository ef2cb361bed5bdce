using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Infrastructure;

// A machine environment on loopback, and a way to do things on its core thread and wait for them.
internal sealed class MachineNode : IDisposable
{
    private const int StreamThrew = 1025;

    private readonly string? _folder;

    public MachineNode(PollerKind poller = PollerKind.Default, bool segmentationOffload = true, long bufferBytes = 64 << 20)
    {
        Environment = MachineEnvironment.Start(
            new MachineEnvironmentOptions { Poller = poller, SegmentationOffload = segmentationOffload, BufferBytes = bufferBytes }, Log);
    }

    // Whose streams are TLS, unless there is nothing to show.
    public MachineNode(IStreamCredentials? credentials)
    {
        Environment = MachineEnvironment.Start(
            new MachineEnvironmentOptions { Credentials = credentials, BufferBytes = 4 << 20 }, Log);
    }

    // Over a poller of the test, with a directory for logs.
    public MachineNode(Func<IPoller> newPoller, long bufferBytes)
    {
        _folder = Path.Combine(Path.GetTempPath(), "qs-" + Guid.NewGuid().ToString("N"));
        Environment = MachineEnvironment.Start(
            new MachineEnvironmentOptions { NewPoller = newPoller, BufferBytes = bufferBytes, StorageDirectory = _folder }, Log);
    }

    public LogRecorder Log { get; } = new();

    public MachineEnvironment Environment { get; }

    public T Do<T>(Func<T> work)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        Environment.Post(new ActionRequest(() =>
        {
            try
            {
                done.SetResult(work());
            }
            catch (Exception exception)
            {
                done.SetException(exception);
            }
        }));
        Assert.True(((IAsyncResult)done.Task).AsyncWaitHandle.WaitOne(Patience.Limit), "The core thread did not answer.");
        return done.Task.GetAwaiter().GetResult();
    }

    public void Do(Action work) => Do(() =>
    {
        work();
        return true;
    });

    public void Dispose()
    {
        Environment.Dispose();
        Assert.False(Log.Has(StreamThrew), "A stream threw.");
        if (_folder is not null && Directory.Exists(_folder))
        {
            Directory.Delete(_folder, recursive: true);
        }
    }
}
