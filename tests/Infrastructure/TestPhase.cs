[assembly: AssemblyFixture(typeof(QuickSilver.Tests.Infrastructure.TestPhase))]

namespace QuickSilver.Tests.Infrastructure;

// Suites run side by side, but tests that measure run while no other suite does. A suite holds a lock that all share; those tests wait until
// they hold it alone. Who waits closes a gate behind which new suites wait, so that the wait ends with the suites that run. The system
// releases the locks of a process that ends.
public sealed class TestPhase : IDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    private static FileStream? _held;

    public TestPhase() => Share();

    public void Dispose() => _held?.Dispose();

    /// <summary>Waits until no other suite of this build runs, and keeps others from starting until it is disposed of.</summary>
    internal static IDisposable Alone()
    {
        var gate = Lock("gate", FileShare.None);
        _held?.Dispose();
        _held = Lock("suites", FileShare.None);
        return new Exclusive(gate);
    }

    private static void Share()
    {
        using var gate = Lock("gate", FileShare.Read);
        _held?.Dispose();
        _held = Lock("suites", FileShare.Read);
    }

    private static FileStream Lock(string name, FileShare share)
    {
        string folder = Directory.CreateDirectory(Path.Combine(RepositoryRoot.Path, "artifacts", "locks")).FullName;
        string file = Path.Combine(folder, name);
        while (true)
        {
            try
            {
                return new FileStream(file, FileMode.OpenOrCreate, FileAccess.Read, share);
            }
            catch (IOException)
            {
                Thread.Sleep(Pause);
            }
        }
    }

    private sealed class Exclusive(FileStream gate) : IDisposable
    {
        public void Dispose()
        {
            gate.Dispose();
            Share();
        }
    }
}
