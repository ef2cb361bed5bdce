using System.Reflection;

[assembly: AssemblyFixture(typeof(QuickSilver.Tests.Infrastructure.TestPhase))]

namespace QuickSilver.Tests.Infrastructure;

// Suites run side by side, but one that measures processes runs while no other does: its project says that it runs alone. A suite holds a
// lock that all share, or that it holds alone. One that waits for it closes a gate behind which new suites wait, so that its wait ends with
// the suites that run. The system releases the locks of a process that ends.
public sealed class TestPhase : IAsyncLifetime
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    private FileStream? _held;

    private static bool RunsAlone => typeof(TestPhase).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Any(static metadata => metadata.Key == nameof(RunsAlone));

    public async ValueTask InitializeAsync()
    {
        var share = RunsAlone ? FileShare.None : FileShare.Read;
        await using var gate = await LockAsync("gate", share);
        _held = await LockAsync("suites", share);
    }

    public ValueTask DisposeAsync() => _held?.DisposeAsync() ?? ValueTask.CompletedTask;

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
}
