namespace QuickSilver.Groups.States;

// What a member answers that is asked for the state. Without bytes: it has none in the view of the place, or it is too large.
internal sealed record StateAnswer(StatePlace Place, ReadOnlyMemory<byte>? State)
{
    /// <summary>The member leaves the group, or the node that asks is not in it. It says nothing of what the member has.</summary>
    public static StateAnswer Nothing { get; } = new(new StatePlace(), null);

    /// <summary>The size of a state that is larger than <see cref="Limit"/>; 0 of others.</summary>
    public long TooLarge { get; init; }

    public long Limit { get; init; }
}
