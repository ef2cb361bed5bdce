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

    // Names the work when it holds the core thread or throws: by the method that it was written in, not by what the compiler made of it.
    public override string ToString()
    {
        var type = action.Method.DeclaringType;
        while (type is { IsNested: true } && type.Name.StartsWith('<'))
        {
            type = type.DeclaringType;
        }

        string name = action.Method.Name;
        int end = name.IndexOf('>', StringComparison.Ordinal);
        return $"request {type?.Name}.{(name.StartsWith('<') && end > 1 ? name[1..end] : name)}";
    }
}
