using System.Runtime.Serialization;

namespace QuickSilver.Generators.Tests.Contracts;

// A nested message of each kind, of which a payload may have several parts.
[DataContract]
public sealed class Holder
{
    [DataMember(Order = 1)]
    public Point Point { get; set; }

    [DataMember(Order = 2)]
    public Point? MaybePoint { get; set; }

    [DataMember(Order = 3)]
    public Tree? Tree { get; set; }

    [DataMember(Order = 4)]
    public Dictionary<int, Point> Points { get; set; } = [];

    [DataMember(Order = 5)]
    public Holder? Next { get; set; }
}

// Dates and times of day in every collection.
[DataContract]
public sealed class Calendar
{
    [DataMember(Order = 1)]
    public List<DateOnly> Days { get; set; } = [];

    [DataMember(Order = 2)]
    public TimeOnly[] Times { get; set; } = [];

    [DataMember(Order = 3)]
    public HashSet<DateOnly> Holidays { get; set; } = [];

    [DataMember(Order = 4)]
    public IReadOnlyList<TimeOnly> Breaks { get; set; } = [];
}
