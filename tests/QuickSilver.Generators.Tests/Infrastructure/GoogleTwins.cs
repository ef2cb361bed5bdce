using Google.Protobuf;
using QuickSilver.Generators.Tests.Contracts;

namespace QuickSilver.Generators.Tests.Infrastructure;

// The same values as Google.Protobuf's classes.
internal static class GoogleTwins
{
    public static Twins.Scalars Of(Scalars value) => new()
    {
        Int32 = value.Int32,
        Int64 = value.Int64,
        Uint32 = value.UInt32,
        Uint64 = value.UInt64,
        Int16 = value.Int16,
        Uint16 = value.UInt16,
        Small = value.Small,
        SignedSmall = value.SignedSmall,
        Letter = value.Letter,
        Flag = value.Flag,
        Single = value.Single,
        Precise = value.Precise,
        Text = value.Text,
        Blob = ByteString.CopyFrom(value.Blob),
        Memory = ByteString.CopyFrom(value.Memory.Span),
        Color = (Twins.Color)value.Color,
        Wide = (long)value.Wide,
    };

    public static Twins.Optionals Of(Optionals value)
    {
        var twin = new Twins.Optionals { Point = value.Point is { } point ? Of(point) : null };
        if (value.Int32 is { } int32)
        {
            twin.Int32 = int32;
        }

        if (value.Int64 is { } int64)
        {
            twin.Int64 = int64;
        }

        if (value.Flag is { } flag)
        {
            twin.Flag = flag;
        }

        if (value.Precise is { } precise)
        {
            twin.Precise = precise;
        }

        if (value.Text is { } text)
        {
            twin.Text = text;
        }

        if (value.Blob is { } blob)
        {
            twin.Blob = ByteString.CopyFrom(blob);
        }

        if (value.Color is { } color)
        {
            twin.Color = (Twins.Color)color;
        }

        return twin;
    }

    public static Twins.Collections Of(Collections value) => new()
    {
        List = { value.List },
        Array = { value.Array },
        ReadOnly = { value.ReadOnly },
        Flags = { value.Flags },
        Texts = { value.Texts },
        Blobs = { value.Blobs.Select(blob => ByteString.CopyFrom(blob)) },
        Points = { value.Points.Select(Of) },
        Colors = { value.Colors.Select(color => (Twins.Color)color) },
        Letters = { value.Letters.Select(letter => (uint)letter) },
        Trees = { value.Trees.Select(Of) },
    };

    public static Twins.Maps Of(Maps value) => new()
    {
        Numbers = { value.Numbers },
        Names = { value.Names },
        Points = { value.Points.ToDictionary(pair => pair.Key, pair => Of(pair.Value)) },
        Rates = { value.Rates },
        Blobs = { value.Blobs.ToDictionary(pair => pair.Key, pair => ByteString.CopyFrom(pair.Value)) },
        Colors = { value.Colors.ToDictionary(pair => pair.Key, pair => (Twins.Color)pair.Value) },
    };

    public static Twins.Tree Of(Tree value) => new()
    {
        Name = value.Name,
        Children = { value.Children.Select(Of) },
        Twin = value.Twin is { } twin ? Of(twin) : null,
    };

    private static Twins.Point Of(Point value) => new() { X = value.X, Y = value.Y };
}
