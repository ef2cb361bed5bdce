using System.Runtime.Serialization;
using QuickSilver;

// Two versions of the same types. The second removed Note, added Currency, Price, Country and Weight, and renamed types and members.
public static class Old
{
    public enum Kind : byte { Unknown, Parcel }

    [DataContract]
    public sealed class Order
    {
        [DataMember(Order = 1)] public long Id { get; set; }
        [DataMember(Order = 2)] public List<Line> Lines { get; set; } = [];
        [DataMember(Order = 3)] public string? Note { get; set; }
        [DataMember(Order = 4)] public Address? Ship { get; set; }
        [DataMember(Order = 5)] public Dictionary<string, Line> ByName { get; set; } = [];
        [DataMember(Order = 6)] public Kind Kind { get; set; }
    }

    [DataContract]
    public sealed class Line
    {
        [DataMember(Order = 1)] public string? Article { get; set; }
        [DataMember(Order = 2)] public int Quantity { get; set; }
    }

    [DataContract]
    public sealed record Address([property: DataMember(Order = 1)] string Street, [property: DataMember(Order = 2)] string? City);

    [DataContract]
    public sealed class Node
    {
        [DataMember(Order = 1)] public string? Name { get; set; }
        [DataMember(Order = 2)] public List<Node> Children { get; set; } = [];
    }

    [DataContract]
    public sealed class Position
    {
        [DataMember(Order = 1)] public double X { get; set; }
        [DataMember(Order = 2)] public double Y { get; set; }
    }
}

public static class New
{
    public enum Kind : byte { Unknown, Parcel, Letter }

    [DataContract]
    public sealed class Order
    {
        [DataMember(Order = 1)] public long Number { get; set; }
        [DataMember(Order = 2)] public List<Item> Items { get; set; } = [];
        [DataMember(Order = 4)] public Place? Ship { get; set; }
        [DataMember(Order = 5)] public Dictionary<string, Item> ByName { get; set; } = [];
        [DataMember(Order = 6)] public Kind Kind { get; set; }
        [DataMember(Order = 7)] public string Currency { get; set; } = "";
    }

    [DataContract]
    public sealed class Item
    {
        [DataMember(Order = 1)] public string? Sku { get; set; }
        [DataMember(Order = 2)] public int Quantity { get; set; }
        [DataMember(Order = 3)] public decimal? Price { get; set; }
    }

    [DataContract]
    public readonly record struct Place(
        [property: DataMember(Order = 1)] string Street, [property: DataMember(Order = 3)] string? Country);

    [DataContract]
    public sealed class Node
    {
        [DataMember(Order = 1)] public string? Title { get; set; }
        [DataMember(Order = 2)] public List<Node> Children { get; set; } = [];
        [DataMember(Order = 3)] public int Weight { get; set; }
    }

    [DataContract]
    public readonly record struct Position([property: DataMember(Order = 1)] double X, [property: DataMember(Order = 3)] double Z);
}

public static class Versions
{
    public static Exchange[] AsOld =>
    [
        new Exchange<Old.Order>("versions/order", OldOrder(), new Old.Order
        {
            Id = 2, Lines = [new() { Article = "pen", Quantity = 3 }], Ship = new("Main St", null),
            ByName = new() { ["pen"] = new() { Article = "pen", Quantity = 3 } }, Kind = (Old.Kind)2,
        }),
        new Exchange<Old.Node>(
            "versions/recursive",
            new Old.Node { Name = "a", Children = [new() { Name = "b", Children = [new() { Name = "c" }] }] },
            new Old.Node { Name = "x", Children = [new() { Name = "y" }] }),
        new Exchange<Old.Position>("versions/class and struct", new Old.Position { X = 1, Y = 2 }, new Old.Position { X = 3 }),
    ];

    public static Exchange[] AsNew =>
    [
        new Exchange<New.Order>("versions/order", NewOrder(), new New.Order
        {
            Number = 1, Items = [new() { Sku = "ink", Quantity = 1 }, new()], Ship = new("Rue 1", null),
            ByName = new() { ["ink"] = new() { Sku = "ink", Quantity = 1 } }, Kind = New.Kind.Parcel, Currency = "",
        }),
        new Exchange<New.Node>(
            "versions/recursive",
            new New.Node { Title = "x", Weight = 1, Children = [new() { Title = "y", Weight = 2 }] },
            new New.Node { Title = "a", Children = [new() { Title = "b", Children = [new() { Title = "c" }] }] }),
        new Exchange<New.Position>("versions/class and struct", new New.Position(3, 4), new New.Position(1, 0)),
    ];

    private static Old.Order OldOrder() => new()
    {
        Id = 1,
        Lines = [new() { Article = "ink", Quantity = 1 }, new()],
        Note = "soon",
        Ship = new("Rue 1", "Paris"),
        ByName = new() { ["ink"] = new() { Article = "ink", Quantity = 1 } },
        Kind = Old.Kind.Parcel,
    };

    private static New.Order NewOrder() => new()
    {
        Number = 2,
        Items = [new() { Sku = "pen", Quantity = 3, Price = 1.25m }],
        Ship = new("Main St", "US"),
        ByName = new() { ["pen"] = new() { Sku = "pen", Quantity = 3 } },
        Kind = New.Kind.Letter,
        Currency = "EUR",
    };
}

// What the topic "strict", which the other process has open with Old.Order, must not be opened with.
public static class Refusals
{
    public static async Task CheckAsync(QuickSilverNode node, CancellationToken limit)
    {
        await RefusedAsync<AnotherType>(
            node, "field 2.2 'Lines.Quantity' of type int32; this endpoint has it as 'Amount' of type string.", limit);
        await RefusedAsync<AnotherNumber>(
            node, "field 2.2 'Lines.Quantity' of type int32; this endpoint has it as field 2.4 of type int32.", limit);
        await RefusedAsync<string>(node, "carries Old.Order(message); this endpoint has string.", limit);
        await (await node.OpenTopicAsync<New.Order>("strict", cancellationToken: limit)).DisposeAsync();
    }

    private static async Task RefusedAsync<T>(QuickSilverNode node, string reason, CancellationToken limit)
    {
        try
        {
            await node.OpenTopicAsync<T>("strict", cancellationToken: limit);
        }
        catch (ContractMismatchException refusal) when (refusal.Message.Contains(reason, StringComparison.Ordinal))
        {
            return;
        }

        throw new InvalidOperationException($"The topic opened with {typeof(T)}.");
    }

    [DataContract]
    public sealed class AnotherType
    {
        [DataMember(Order = 2)] public List<AnotherLine> Lines { get; set; } = [];
    }

    [DataContract]
    public sealed class AnotherLine
    {
        [DataMember(Order = 2)] public string? Amount { get; set; }
    }

    [DataContract]
    public sealed class AnotherNumber
    {
        [DataMember(Order = 2)] public List<RenumberedLine> Lines { get; set; } = [];
    }

    [DataContract]
    public sealed class RenumberedLine
    {
        [DataMember(Order = 4)] public int Quantity { get; set; }
    }
}
