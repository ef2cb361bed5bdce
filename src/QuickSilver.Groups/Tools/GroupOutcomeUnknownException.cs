namespace QuickSilver.Groups.Tools;

/// <summary>
/// The exception that is thrown by a call that waited while its node was removed from the group and came back. Whether the group has made
/// the change is unknown. What this node held there, such as a lock, is released.
/// </summary>
public sealed class GroupOutcomeUnknownException : QuickSilverException
{
    internal GroupOutcomeUnknownException(string group)
        : base(
            $"The outcome of a call on \"{group}\" is unknown: this node was removed from the group and came back, so the change may have "
            + "been made or not. Read the state, and call again if it is needed.")
    {
        Group = group;
    }

    /// <summary>The name of the group.</summary>
    public string Group { get; }
}
