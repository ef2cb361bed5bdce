using System.Globalization;

namespace QuickSilver.Groups;

/// <summary>
/// The exception that is thrown when a member cannot get the state of a group because it is larger than <see
/// cref="GroupOptions.MaxStateBytes"/> of this member or of the one that was asked.
/// </summary>
public sealed class GroupStateTooLargeException : QuickSilverException
{
    internal GroupStateTooLargeException(string group, NodeId donor, long size, long limit)
        : base(string.Create(
            CultureInfo.InvariantCulture,
            $"The state of the group \"{group}\" has at least {size:N0} bytes at node {donor}. The limit is {limit:N0} "
            + $"({nameof(GroupOptions)}.{nameof(GroupOptions.MaxStateBytes)}, at most {GroupOptions.MostStateBytes:N0}). Raise it on all "
            + $"members, or keep less in the state."))
    {
        Group = group;
        Donor = donor;
        Size = size;
        Limit = limit;
    }

    /// <summary>The name of the group.</summary>
    public string Group { get; }

    /// <summary>The member that was asked for the state.</summary>
    public NodeId Donor { get; }

    /// <summary>The size that was written before the writer ended, in bytes.</summary>
    public long Size { get; }

    /// <summary>The limit that it exceeds, in bytes.</summary>
    public long Limit { get; }
}
