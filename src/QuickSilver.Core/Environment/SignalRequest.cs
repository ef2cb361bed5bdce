using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Environment;

// A wish that any thread may express any number of times and that the core thread grants once per batch of wishes: a
// signal that comes before the action begins is covered by it, one that comes later posts it again.
//
// An object that exists once for each topic is its own request, so that an idle topic has no objects for its wishes.
internal abstract class SignalRequest(INodeEnvironment environment) : Request
{
    private int _isPosted;

    public INodeEnvironment Environment { get; } = environment;

    public void Signal()
    {
        if (Volatile.Read(ref _isPosted) == 0 && Interlocked.Exchange(ref _isPosted, 1) == 0)
        {
            Environment.Post(this);
        }
    }

    public override void Execute()
    {
        // A full fence: a thread that signals after this point finds the flag down, and the action sees one that signalled before.
        Interlocked.Exchange(ref _isPosted, 0);
        OnSignal();
    }

    protected abstract void OnSignal();
}

internal sealed class ActionSignal(INodeEnvironment environment, Action action, object? source = null) : SignalRequest(environment)
{
    protected override void OnSignal() => action();

    // Names the work when it holds the core thread or throws.
    public override string ToString() => source?.ToString() ?? $"signal {action.Method.DeclaringType?.Name}.{action.Method.Name}";
}
