using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;

namespace QuickSilver.Generators.Tests.Infrastructure;

// Generators of contract values, with the numbers at the edges of every varint length among the small ones.
internal static class Values
{
    private static readonly Gen<ulong> Bits =
        Gen.Choose(0, 64).SelectMany(
            width => ArbMap.Default.GeneratorFor<DoNotSize<ulong>>().Select(value => width == 0 ? 0 : value.Item >> (64 - width)));

    private static readonly Gen<long> Long = Bits.SelectMany(bits => Gen.Elements((long)bits, -(long)bits));

    private static readonly Gen<string> Texts = Gen.OneOf(
        Gen.Elements("", "a", "Zürich", "東京", "🛫 takes off", "\ud800 alone"),
        Gen.Elements(127, 128, 20_000).Select(length => new string('x', length)),
        ArbMap.Default.GeneratorFor<NonNull<string>>().Select(text => text.Item));

    private static readonly Gen<byte[]> Blobs = Gen.OneOf(
        Gen.Elements(0, 1, 127, 128, 300).Select(length => new byte[length]),
        ArbMap.Default.GeneratorFor<byte[]>());

    private static readonly Gen<double> Double = Gen.OneOf(
        Gen.Elements(0.0, -0.0, double.NaN, double.MaxValue, double.Epsilon, double.NegativeInfinity),
        ArbMap.Default.GeneratorFor<double>());

    private static readonly Gen<Half> Halves = Gen.Choose(0, ushort.MaxValue).Select(bits => BitConverter.UInt16BitsToHalf((ushort)bits));

    private static readonly Gen<Uri> Pages = Gen.Elements(
        new Uri("https://example.org/a?b=c#d"), new Uri("flights/ORD", UriKind.Relative), new Uri("", UriKind.Relative),
        new Uri("https://example.org/Zürich"), new Uri("urn:isbn:0451450523"));

    private static readonly Gen<Color> Colors = Long.Select(value => (Color)(value % 3));

    private static readonly Gen<Point> Points = from x in Long from y in Long select new Point((int)x, (int)y);

    public static Arbitrary<Scalars> Scalars { get; } = (
        from i64 in Long
        from u64 in Bits
        from i32 in Long
        from small in Bits
        from flag in ArbMap.Default.GeneratorFor<bool>()
        from precise in Double
        from text in Texts
        from blob in Blobs
        from memory in Blobs
        from color in Colors
        select new Scalars(
            (int)i32, i64, (uint)u64, u64, (short)i32, (ushort)small, (byte)small, (sbyte)i32, (char)small, flag, (float)precise, precise,
            text, blob, memory, color, (Wide)i64)).ToArbitrary();

    public static Arbitrary<Optionals> Optionals { get; } = (
        from present in Gen.Choose(0, 255)
        from number in Long
        from flag in ArbMap.Default.GeneratorFor<bool>()
        from precise in Double
        from text in Texts
        from blob in Blobs
        from color in Colors
        from point in Points
        select new Optionals
        {
            Int32 = (present & 1) != 0 ? (int)number : null,
            Int64 = (present & 2) != 0 ? number : null,
            Flag = (present & 4) != 0 ? flag : null,
            Precise = (present & 8) != 0 ? precise : null,
            Text = (present & 16) != 0 ? text : null,
            Blob = (present & 32) != 0 ? blob : null,
            Color = (present & 64) != 0 ? color : null,
            Point = (present & 128) != 0 ? point : null,
        }).ToArbitrary();

    public static Arbitrary<Tree> Trees { get; } = Gen.Sized(size => TreeOf(Math.Min(size, 30))).ToArbitrary();

    public static Arbitrary<Collections> Collections { get; } = (
        from numbers in Long.ListOf()
        from doubles in Double.ListOf()
        from flags in ArbMap.Default.GeneratorFor<bool>().ListOf()
        from texts in Texts.ListOf()
        from blobs in Blobs.ListOf()
        from points in Points.ListOf()
        from colors in Colors.ListOf()
        from trees in TreeOf(5).ListOf()
        select new Collections
        {
            List = [.. numbers.Select(value => (int)value)],
            Array = [.. numbers],
            ReadOnly = [.. doubles],
            Flags = [.. flags],
            Texts = [.. texts],
            Blobs = [.. blobs],
            Points = [.. points],
            Colors = [.. colors],
            Letters = [.. numbers.Select(value => (char)value)],
            Trees = [.. trees],
        }).ToArbitrary();

    public static Arbitrary<Maps> Maps { get; } = (
        from keys in Long.ListOf()
        from texts in Texts.ListOf()
        from points in Points.ListOf()
        from blobs in Blobs.ListOf()
        from rates in Double.ListOf()
        from colors in Colors.ListOf()
        select new Maps
        {
            // A lone surrogate becomes U+FFFD on the wire, which as a key could meet another.
            Numbers = Pairs(texts.Where(text => !text.Any(char.IsSurrogate)), keys.Select(key => (int)key)),
            Names = Pairs(keys.Select(key => (int)key), texts),
            Points = Pairs(keys.Select(key => (ulong)key), points),
            Rates = Pairs(rates.Select(rate => rate > 0), rates),
            Blobs = Pairs(keys, blobs),
            Colors = Pairs(keys.Select(key => (int)key), colors),
        }).ToArbitrary();

    public static Arbitrary<Times> Times { get; } = (
        from price in ArbMap.Default.GeneratorFor<decimal>()
        from id in ArbMap.Default.GeneratorFor<Guid>()
        from ticks in Bits
        from unit in Gen.Elements(1L, TimeSpan.TicksPerMillisecond, TimeSpan.TicksPerSecond, TimeSpan.TicksPerHour, TimeSpan.TicksPerDay)
        from minutes in Gen.Choose(-840, 840)
        from present in ArbMap.Default.GeneratorFor<bool>()
        let span = TimeSpan.FromTicks((long)ticks / unit * unit)
        let at = new DateTime((long)(ticks % (ulong)DateTime.MaxValue.Ticks) / unit * unit)
        let local = Math.Clamp(at.Ticks, TimeSpan.TicksPerDay, DateTime.MaxValue.Ticks - TimeSpan.TicksPerDay)
        let there = new DateTimeOffset(local, TimeSpan.FromMinutes(minutes))
        select new Times(price, id, at, there, span)
        {
            MaybePrice = present ? price : null,
            MaybeId = present ? id : null,
            MaybeAt = present ? at : null,
            MaybeThere = present ? there : null,
            MaybeTook = present ? -span : null,
            Prices = [price, 0m, -price],
            Delays = new() { ["a"] = span, [""] = TimeSpan.Zero },
        }).ToArbitrary();

    public static Arbitrary<Converted> Converted { get; } = (
        from number in Long
        from bits in Bits
        from share in Halves
        from page in Pages
        from present in ArbMap.Default.GeneratorFor<bool>()
        let day = DateOnly.FromDayNumber((int)(bits % (ulong)(DateOnly.MaxValue.DayNumber + 1)))
        let time = new TimeOnly((long)(bits % (ulong)(TimeOnly.MaxValue.Ticks + 1)))
        let signed = ((Int128)number << 64) + number
        let wide = new UInt128(bits, (ulong)number)
        select new Converted(day, time, share, page, signed, wide)
        {
            MaybeDay = present ? day : null,
            MaybeTime = present ? time : null,
            MaybeShare = present ? share : null,
            MaybePage = present ? page : null,
            MaybeSigned = present ? signed : null,
            MaybeUnsigned = present ? wide : null,
        }).ToArbitrary();

    public static Arbitrary<Sets> Sets { get; } = (
        from texts in Texts.ListOf()
        from numbers in Long.ListOf()
        from shares in Halves.ListOf()
        from pages in Pages.ListOf()
        from points in Points.ListOf()
        from present in ArbMap.Default.GeneratorFor<bool>()
        let days = numbers.Select(number => DateOnly.FromDayNumber((int)((ulong)number % (ulong)DateOnly.MaxValue.DayNumber)))
        select new Sets
        {
            Names = [.. texts.Where(text => !text.Any(char.IsSurrogate))],
            MaybeNumbers = present ? [.. numbers.Select(number => (int)number)] : null,
            Days = days.ToHashSet(),
            Shares = [.. shares],
            Pages = [.. pages],
            Totals = Pairs(texts.Where(text => !text.Any(char.IsSurrogate)), numbers.Select(number => (Int128)number * number)),
            MaybePages = present ? Pairs(numbers.Select(number => (int)number), pages) : null,
            Times = [.. numbers.Select(number => new TimeOnly((long)((ulong)number % (ulong)TimeOnly.MaxValue.Ticks)))],
            Points = [.. points],
            MaybePoints = present ? points.ToHashSet() : null,
        }).ToArbitrary();

    private static Gen<Tree> TreeOf(int size) =>
        from name in Texts
        from children in size <= 1 ? Gen.Constant(new List<Tree>()) : TreeOf(size / 3).ListOf(2).Select(trees => trees.ToList())
        from twin in size <= 2 ? Gen.Constant<Tree?>(null) : TreeOf(size - 3).Select(tree => (Tree?)tree)
        select new Tree { Name = name, Children = children, Twin = twin };

    private static Dictionary<TKey, TValue> Pairs<TKey, TValue>(IEnumerable<TKey> keys, IEnumerable<TValue> values)
        where TKey : notnull
    {
        var pairs = new Dictionary<TKey, TValue>();
        foreach (var (key, value) in keys.Zip(values))
        {
            pairs[key] = value;
        }

        return pairs;
    }
}
