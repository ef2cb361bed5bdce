[assembly: AssemblyFixture(typeof(QuickSilver.Tests.Infrastructure.TestPhase))]

namespace QuickSilver.Tests.Infrastructure;

// Suites run side by side, but tests that measure run while no other suite does. A suite holds a lock that all share. Those tests wait
// until they hold it alone: they close a gate behind which new suites wait, so that their wait ends with the suites that run. The system
// releases the locks of a process that ends.
public sealed class TestPhase : IAsyncLifetime
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    private static FileStream? _held;

    public async ValueTask InitializeAsync() => await ShareAsync();

    public ValueTask DisposeAsync() => _held?.DisposeAsync() ?? ValueTask.CompletedTask;

    /// <summary>Waits until no other suite of this build runs, and keeps others from starting until it is disposed of.</summary>
    internal static async Task<IAsyncDisposable> AloneAsync()
    {
        var gate = await LockAsync("gate", FileShare.None);
        await HoldAsync(FileShare.None);
        return new Exclusive(gate);
    }

    private static async Task ShareAsync()
    {
        await using var gate = await LockAsync("gate", FileShare.Read);
        await HoldAsync(FileShare.Read);
    }

    private static async Task HoldAsync(FileShare share)
    {
        await (_held?.DisposeAsync() ?? ValueTask.CompletedTask);
        _held = await LockAsync("suites", share);
    }

    private static async Task<FileStream> LockAsync(string name, FileShare share)
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
                await Task.Delay(Pause, TestContext.Current.CancellationToken);
            }
        }
    }

    private sealed class Exclusive(FileStream gate) : IAsyncDisposable
    {
        public async ValueTask DisposeAsync()
        {
            await gate.DisposeAsync();
            await ShareAsync();
        }
    }
}
