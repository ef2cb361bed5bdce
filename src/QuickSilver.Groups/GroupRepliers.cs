namespace QuickSilver.Groups;

/// <summary>
/// Which members of a group are to answer a question, and how many answers are enough. The members are those of the view in which the group
/// delivers the question.
/// </summary>
public readonly record struct GroupRepliers
{
    private readonly int _rank;
    private readonly int _count;

    private GroupRepliers(int rank, int count) => (_rank, _count) = (rank, count);

    /// <summary>All members; each answer counts. The default.</summary>
    public static GroupRepliers All => default;

    /// <summary>All members, until more than half of them have answered.</summary>
    public static GroupRepliers Majority => new(rank: 0, count: -1);

    /// <summary>The rank of the only member that is to answer; null: all are.</summary>
    public int? OnlyRank => _rank > 0 ? _rank - 1 : null;

    /// <summary>All members, until so many of them have answered.</summary>
    /// <param name="count">The number of answers: at least 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The count is less than 1.</exception>
    public static GroupRepliers First(int count)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        return new GroupRepliers(rank: 0, count);
    }

    /// <summary>The member of this rank alone. The others get the question as a message.</summary>
    /// <param name="rank">The rank: 0, the oldest member, to 65,534.</param>
    /// <exception cref="ArgumentOutOfRangeException">The rank is out of range.</exception>
    public static GroupRepliers Rank(int rank)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(rank);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(rank, ushort.MaxValue - 1);
        return new GroupRepliers(rank + 1, count: 0);
    }

    /// <summary>How many answers are enough in a view of so many members.</summary>
    internal int EnoughOf(int members) => _count switch
    {
        < 0 => (members / 2) + 1,
        0 => int.MaxValue,
        _ => _count,
    };

    /// <inheritdoc/>
    public override string ToString() => this switch
    {
        { _rank: > 0 } => $"rank {_rank - 1}",
        { _count: < 0 } => "majority",
        { _count: 0 } => "all",
        _ => $"first {_count}",
    };
}
