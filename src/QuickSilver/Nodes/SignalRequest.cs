using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;

namespace QuickSilver.Nodes;

// A wish that any thread may express any number of times and that the core thread grants once per batch of wishes: a
// signal that comes before the action begins is covered by it, one that comes later posts it again.
internal sealed class SignalRequest(INodeEnvironment environment, Action action) : Request
{
    private int _isPosted;

    public void Signal()
    {
        if (Volatile.Read(ref _isPosted) == 0 && Interlocked.Exchange(ref _isPosted, 1) == 0)
        {
            environment.Post(this);
        }
    }

    public override void Execute()
    {
        // A full fence: whoever signals after this point finds the flag down, whoever signalled before is seen by the action.
        Interlocked.Exchange(ref _isPosted, 0);
        action();
    }
}
