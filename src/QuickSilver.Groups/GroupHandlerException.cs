namespace QuickSilver.Groups;

/// <summary>
/// The exception with which a group ends on a node whose <see cref="IGroupHandler{TMessage}"/> threw. The inner exception is what it threw.
/// The node has left the group; open it again to get the state of another member.
/// </summary>
public sealed class GroupHandlerException : QuickSilverException
{
    internal GroupHandlerException(string group, string call, Exception inner)
        : base(
            $"The handler of the group \"{group}\" threw in {call}, and this node has left the group: {inner.GetType()}: "
            + $"{inner.Message.TrimEnd('.')}. Correct the handler, and open the group again.",
            inner)
    {
        Group = group;
        Call = call;
    }

    /// <summary>The name of the group.</summary>
    public string Group { get; }

    /// <summary>The method that threw, such as <c>OnEventAsync</c>.</summary>
    public string Call { get; }
}
