using System.Collections;
using System.Collections.Immutable;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace QuickSilver.ProtobufNet.Tests.Differential;

// Values of a contract by chance, with the edges of each type among them. Members are left at their defaults as often as not, so that a
// case shows few members. A part of a value has no member that protobuf-net does not merge as others do: bytes, and different subtypes.
internal sealed class ShapeValues(Random chance, bool isPart)
{
    private const int MaxDepth = 4;
    private const long ExactTicks = 1L << 56;

    private static readonly string[] Texts = ["", "a", "Zürich", "\0", "𝄞", new('x', 127), new('y', 130)];

    private static readonly Uri[] Pages =
        [new("https://example.org/a?b=c#d"), new("flights/ORD", UriKind.Relative), new("urn:isbn:0451450523")];

    public object Of(Type type) => Of(type, 0);

    private object Of(Type type, int depth)
    {
        if (type.IsAbstract)
        {
            type = isPart || chance.Next(2) == 0 ? typeof(Shapes.Cash) : typeof(Shapes.Bond);
        }

        object value = RuntimeHelpers.GetUninitializedObject(type);
        value = type.IsValueType ? value : Activator.CreateInstance(type)!;
        foreach (var member in type.GetProperties(BindingFlags.Public | BindingFlags.Instance))
        {
            if (chance.Next(2) == 0 && Member(member.PropertyType, depth) is { } given)
            {
                member.SetValue(value, given);
            }
        }

        return value;
    }

    private object? Member(Type type, int depth)
    {
        if (Nullable.GetUnderlyingType(type) is { } underlying)
        {
            return Scalar(underlying, depth);
        }

        bool isBytes = type == typeof(byte[]) || type == typeof(ReadOnlyMemory<byte>);
        if (isBytes || type == typeof(string) || !IsCollection(type))
        {
            return isBytes && isPart ? null : Scalar(type, depth);
        }

        var arguments = type.IsArray ? [type.GetElementType()!] : type.GetGenericArguments();
        return arguments.Length == 2 ? Map(arguments[0], arguments[1], depth) : Collection(type, arguments[0], depth);
    }

    private static bool IsCollection(Type type) => typeof(IEnumerable).IsAssignableFrom(type) && type != typeof(Uri);

    private object Map(Type key, Type value, int depth)
    {
        var map = (IDictionary)Activator.CreateInstance(typeof(Dictionary<,>).MakeGenericType(key, value))!;
        for (int i = chance.Next(4); i > 0; i--)
        {
            if (Scalar(key, depth) is { } at && Scalar(value, depth) is { } given)
            {
                map[at] = given;
            }
        }

        return map;
    }

    private object Collection(Type type, Type element, int depth)
    {
        var items = new List<object>();
        for (int i = chance.Next(8) == 0 ? 70 : chance.Next(4); i > 0; i--)
        {
            if (Scalar(element, depth) is { } item)
            {
                items.Add(item);
            }
        }

        var array = Array.CreateInstance(element, items.Count);
        ((ICollection)items).CopyTo(array, 0);
        if (type.IsArray || type.IsInterface)
        {
            return array;
        }

        if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(ImmutableArray<>))
        {
            return typeof(ShapeValues).GetMethod(nameof(Immutable), BindingFlags.NonPublic | BindingFlags.Static)!
                .MakeGenericMethod(element).Invoke(null, [array])!;
        }

        return Activator.CreateInstance(type, array)!;
    }

    private static ImmutableArray<T> Immutable<T>(T[] items) => [.. items];

    // Null where a message would nest too deep.
    private object? Scalar(Type type, int depth)
    {
        if (type.IsEnum)
        {
            return Enum.ToObject(type, chance.Next(3) switch
            {
                0 => 0L,
                1 => Convert.ToInt64(Enum.GetValuesAsUnderlyingType(type).GetValue(1), null),
                _ => (object)chance.Next(100),
            });
        }

        if (type.Namespace == typeof(Shapes.Leaf).Namespace)
        {
            return depth >= MaxDepth ? null : Of(type, depth + 1);
        }

        return Type.GetTypeCode(type) switch
        {
            TypeCode.Int32 => (int)Number(),
            TypeCode.Int64 => Number(),
            TypeCode.UInt32 => (uint)Number(),
            TypeCode.UInt64 => (ulong)Number(),
            TypeCode.Int16 => (short)Number(),
            TypeCode.UInt16 => (ushort)Number(),
            TypeCode.Byte => (byte)Number(),
            TypeCode.SByte => (sbyte)Number(),
            TypeCode.Char => (char)Number(),
            TypeCode.Boolean => chance.Next(2) == 0,
            TypeCode.Single => (float)Real(),
            TypeCode.Double => Real(),
            TypeCode.String => Texts[chance.Next(Texts.Length)],
            TypeCode.Decimal => Amount(),
            TypeCode.DateTime => Moment(),
            _ => Other(type),
        };
    }

    private object Other(Type type)
    {
        if (type == typeof(byte[]) || type == typeof(ReadOnlyMemory<byte>))
        {
            byte[] bytes = new byte[chance.Next(4) == 0 ? 130 : chance.Next(4)];
            chance.NextBytes(bytes);
            return type == typeof(byte[]) ? bytes : (object)new ReadOnlyMemory<byte>(bytes);
        }

        if (type == typeof(Guid))
        {
            byte[] bytes = new byte[16];
            chance.NextBytes(bytes);
            return chance.Next(4) == 0 ? Guid.Empty : new Guid(bytes);
        }

        return type == typeof(TimeSpan) ? Span()
            : type == typeof(DateOnly) ? DateOnly.FromDayNumber(chance.Next(DateOnly.MaxValue.DayNumber + 1))
            : type == typeof(TimeOnly) ? new TimeOnly(chance.NextInt64(TimeOnly.MaxValue.Ticks + 1))
            : type == typeof(Uri) ? Pages[chance.Next(Pages.Length)]
            : throw new NotSupportedException($"{type} has no values here.");
    }

    // Of any width, so that varints have any length.
    private long Number()
    {
        long bits = chance.NextInt64(long.MinValue, long.MaxValue) >> chance.Next(64);
        return chance.Next(6) switch
        {
            0 => 0,
            1 => chance.Next(2) == 0 ? int.MinValue : long.MaxValue,
            _ => bits,
        };
    }

    private double Real() => chance.Next(8) switch
    {
        0 => 0.0,
        1 => double.NaN,
        2 => double.PositiveInfinity,
        3 => double.Epsilon,
        _ => (chance.NextDouble() - 0.5) * Math.Pow(10, chance.Next(-30, 30)),
    };

    private decimal Amount() => chance.Next(4) switch
    {
        0 => 0m,
        1 => decimal.MaxValue,
        _ => new decimal(chance.Next(), chance.Next(), chance.Next(2) == 0 ? 0 : chance.Next(), chance.Next(2) == 0, (byte)chance.Next(29)),
    };

    private TimeSpan Span() => chance.Next(8) switch
    {
        0 => TimeSpan.Zero,
        1 => TimeSpan.MinValue,
        2 => TimeSpan.MaxValue,
        _ => TimeSpan.FromTicks(Unit() * (chance.NextInt64(-ExactTicks, ExactTicks) / TimeSpan.TicksPerDay % 1000)),
    };

    private DateTime Moment()
    {
        long unit = Unit();
        return chance.Next(8) switch
        {
            0 => DateTime.MinValue,
            1 => DateTime.MaxValue,
            2 => DateTime.UnixEpoch,
            _ => new DateTime(chance.NextInt64(DateTime.MaxValue.Ticks) / unit * unit),
        };
    }

    private long Unit() => chance.Next(5) switch
    {
        0 => 1,
        1 => TimeSpan.TicksPerMillisecond,
        2 => TimeSpan.TicksPerSecond,
        3 => TimeSpan.TicksPerHour,
        _ => TimeSpan.TicksPerDay,
    };
}
