using System.Collections.Immutable;

// A value of each type, of a kind that a careless codec would lose something of.
public static class Samples
{
    private static readonly Leg First = new() { From = "ORD", To = "SFO", Miles = 1846.5 };
    private static readonly Leg Second = new() { From = "SFO" };
    private static readonly DateTime At = new(2024, 2, 29, 12, 30, 15, 123);

    public static Exchange[] All =>
    [
        new Exchange<byte[]>("bytes", [1, 0, 255]),
        new Exchange<string>("text", "Zürich ✈"),
        new Exchange<Empty>("empty", new Empty()),
        new Exchange<Scalars>("scalars", new Scalars
        {
            Int = int.MinValue, Long = long.MaxValue, UInt = uint.MaxValue, ULong = ulong.MaxValue, Short = -1, UShort = 65535, Byte = 255,
            SByte = -128, Char = 'Ж', Bool = true, Float = 1.5f, Double = Math.PI, Text = "", Bytes = [0], Memory = new byte[] { 7 },
            Decimal = -123.45m, Id = new Guid("12345678-2345-3456-4567-56789a6789ab"), At = At, There = new(At, TimeSpan.FromHours(-6)),
            Took = TimeSpan.FromMilliseconds(-5),
        }),
        new Exchange<Nullables>("nullables/none", new Nullables()),
        new Exchange<Nullables>("nullables/defaults", new Nullables
        {
            Int = 0, Bool = false, Double = 0, Text = "", Decimal = 0, Id = Guid.Empty, At = DateTime.MinValue, Color = Color.None,
            Point = new Point(0, 0), Leg = new Leg(), Bytes = [],
        }),
        new Exchange<Enums>("enums", new Enums
        {
            Color = Color.Blue, Far = Far.Out, Rights = Rights.Read | Rights.Write, Unknown = (Color)77, Many = [Color.Red, Color.None],
            ByName = new() { ["sky"] = Color.Blue },
        }),
        new Exchange<Shape>("subtypes", new Disc("a", 2.5)),
        new Exchange<Drawing>("subtypes/nested", new Drawing
        {
            Shapes = [new Disc("a", 1), new Strip("b") { Points = [new(1, 2)] }], ByName = new() { ["c"] = new Strip("c") },
            Last = new Disc("d", 0),
        }),
        new Exchange<Holder>("nested", new Holder { Title = "trip", Leg = First, Maybe = Second, Point = new Point(1, -2) }),
        new Exchange<Holder>("nested/absent", new Holder { Leg = First }),
        new Exchange<Lists>("lists", new Lists
        {
            Legs = [First, Second], Array = [Second], ReadOnly = [First], Immutable = [Second, First], Points = [new(1, 2), new(0, 0)],
            Numbers = [1, 0, -1], Texts = ["a", ""], Blobs = [[1], []], Times = [At],
        }),
        new Exchange<Lists>("lists/empty", new Lists()),
        new Exchange<Maps>("maps", new Maps
        {
            ByName = new() { ["a"] = First, [""] = Second }, ByNumber = new() { [0] = new Point(0, 1), [-7] = new Point(3, 4) },
            ByChar = new() { ['x'] = "y" }, ByFlag = new() { [true] = 1.5, [false] = 0 }, Times = new() { [5] = At },
        }),
        new Exchange<Tree>("recursive", Trees.Of(depth: 5)),
        new Exchange<Company>("mutually recursive", new Company
        {
            Name = "Acme",
            Staff =
            {
                new Person { Name = "Ann", Reports = { new Person { Name = "Bo" } }, Owns = { ["shop"] = new() { Name = "Shop" } } },
            },
        }),
        new Exchange<Level0>("nested eight deep, and each level twice", Level0.Sample),
        new Exchange<Departure>("record", new Departure("UA 412", 7, First)),
        new Exchange<Point>("record struct", new Point(3, -4)),
        new Exchange<Fix>("readonly struct", new Fix(48.86, 2.35)),
        new Exchange<Written>(
            "constructors, init, required, fields", new Written(7) { Name = "x", Field = 9, @class = "first", Later = 3 }),
        new Exchange<SameNames>("two types of one name", new SameNames
        {
            Air = new() { Number = 5 }, Sea = new() { Name = "Aurora" }, Both = [new() { Name = "Boreas" }],
        }),
        new Exchange<TextEnvelope>("of a generic interface", new TextEnvelope { Value = "hello" }),
        new Exchange<Truck>("holds what it would have inherited", new Truck { Vehicle = new() { Wheels = 6 }, Load = 3.5 }),
    ];
}
