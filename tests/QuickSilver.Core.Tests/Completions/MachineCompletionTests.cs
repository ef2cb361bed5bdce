using QuickSilver.Core.Environment;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Overlapped;

namespace QuickSilver.Core.Tests.Completions;

public sealed class DefaultCompletionTests() : CompletionContract(new MachineCompletionHouse(() => Poller.Create(PollerKind.Default)));

public sealed class SelectCompletionTests() : CompletionContract(new MachineCompletionHouse(() => Poller.Create(PollerKind.Select)));

public sealed class CompletionPortCompletionTests()
    : CompletionContract(new MachineCompletionHouse(() => new CompletionPortPoller(new EmulatedPort())));

internal sealed class MachineCompletionHouse(Func<IPoller> newPoller) : CompletionHouse
{
    private readonly MachineNode _node = new(newPoller, BufferBytes);

    public override INodeEnvironment Environment => _node.Environment;

    public override T Do<T>(Func<T> work) => _node.Do(work);

    public override void Until(Func<bool> condition, string what) => Patience.Until(() => _node.Do(condition), what);

    public override void Pass()
    {
        for (int i = 0; i < 5; i++)
        {
            SpinWait.SpinUntil(() => false, 5);
            _node.Do(() => { });
        }
    }

    public override void Dispose() => _node.Dispose();
}
