using System.Runtime.Serialization;
using QuickSilver.Serialization;

namespace QuickSilver.Generators.Tests.Contracts;

// A base with members and subtypes of each kind that C# has.
[Subtype(1, typeof(Deposit))]
[Subtype(2, typeof(Transfer))]
[Subtype(3, typeof(Fee), Name = "fee")]
public abstract record Movement([property: DataMember(Order = 1)] string Account)
{
    [DataMember(Order = 10)] public abstract int Version { get; init; }
}

[DataContract]
public sealed record Deposit(string Account, [property: DataMember(Order = 2)] decimal Amount) : Movement(Account)
{
    public override int Version { get; init; }
}

[DataContract]
public record Transfer(string Account, [property: DataMember(Order = 3)] string To, [property: DataMember(Order = 4)] Movement? Cause)
    : Movement(Account)
{
    public override int Version { get; init; }
}

[DataContract]
public sealed record Fee(string Account) : Movement(Account)
{
    public override int Version { get; init; }
}

// It is not declared.
public sealed record Special(string Account, string To, Movement? Cause) : Transfer(Account, To, Cause);

[Subtype(1, typeof(Circle))]
[Subtype(200, typeof(Square))]
public interface IFigure;

[DataContract]
public readonly record struct Circle([property: DataMember(Order = 1)] double Radius) : IFigure;

[DataContract]
public sealed class Square : IFigure, IEquatable<Square>
{
    [DataMember(Order = 1)] public double Side { get; set; }

    public bool Equals(Square? other) => other?.Side == Side;

    public override bool Equals(object? obj) => Equals(obj as Square);

    public override int GetHashCode() => Side.GetHashCode();
}

[DataContract]
public sealed class Ledger
{
    [DataMember(Order = 1)] public Movement? Last { get; set; }
    [DataMember(Order = 2)] public List<Movement> All { get; set; } = [];
    [DataMember(Order = 3)] public Dictionary<string, Movement> ByName { get; set; } = [];
    [DataMember(Order = 4)] public IFigure[] Figures { get; set; } = [];
    [DataMember(Order = 5)] public IFigure? Figure { get; set; }
}

// Two versions of a type: the second has one subtype more, and one with a member more.
public static class Older
{
    [Subtype(1, typeof(Start))]
    public interface ISignal;

    [DataContract]
    public sealed record Start([property: DataMember(Order = 1)] int Id) : ISignal;
}

public static class Newer
{
    [Subtype(1, typeof(Start))]
    [Subtype(2, typeof(Stop))]
    public interface ISignal;

    [DataContract]
    public sealed record Start([property: DataMember(Order = 1)] int Id, [property: DataMember(Order = 2)] string? Why) : ISignal;

    [DataContract]
    public sealed record Stop([property: DataMember(Order = 1)] int Id) : ISignal;
}
