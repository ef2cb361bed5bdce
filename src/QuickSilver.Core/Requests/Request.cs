namespace QuickSilver.Core.Requests;

// A piece of work that any thread hands to the core thread. Intrusive: one request object may be in one queue once at a
// time, and may be posted again as soon as Execute has begun.
internal abstract class Request
{
    internal Request? Next;

    public abstract void Execute();
}

internal sealed class ActionRequest(Action action) : Request
{
    public override void Execute() => action();

    // Names the work when it holds the core thread or throws.
    public override string ToString() => $"request {WrittenName.Of(action.Method)}";
}
