using System.Collections;
using System.Reflection;

namespace QuickSilver.Seeds.Tests.Infrastructure.Recording;

// How many entries the collections hold that a node's objects reach, summed by the field that holds them. Found by reflection, so that
// a forgotten table is counted too. What belongs to the simulator, to the test or to the runtime is not walked into.
internal static class TableSizes
{
    private const BindingFlags Fields = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private static readonly Dictionary<Type, FieldInfo[]> FieldsOf = [];

    public static IReadOnlyDictionary<string, long> Of(object root)
    {
        var sizes = new SortedDictionary<string, long>(StringComparer.Ordinal);
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        var open = new Stack<object>();
        Visit(root, open, seen);
        while (open.TryPop(out object? next))
        {
            foreach (var field in OwnFields(next.GetType()))
            {
                if (field.GetValue(next) is { } value)
                {
                    Count(field, value, sizes, open, seen);
                }
            }
        }

        return sizes;
    }

    private static void Count(
        FieldInfo field, object value, SortedDictionary<string, long> sizes, Stack<object> open, HashSet<object> seen)
    {
        if (value is not IEnumerable entries || value is string || IsOurs(value.GetType()))
        {
            Visit(value, open, seen);
            return;
        }

        if (!seen.Add(value))
        {
            return;
        }

        long count = 0;
        foreach (object? entry in Entries(entries))
        {
            count++;
            if (entry is not null)
            {
                Visit(entry, open, seen);
            }
        }

        // An array is as long as it once had to be.
        if (value is not Array)
        {
            string name = $"{field.DeclaringType!.Name}.{field.Name}";
            sizes[name] = sizes.GetValueOrDefault(name) + count;
        }
    }

    private static IEnumerable<object?> Entries(IEnumerable entries) => entries switch
    {
        Array array when array.GetType().GetElementType()!.IsPrimitive => [],
        _ when IsDefaultArray(entries) => [],
        IDictionary dictionary => dictionary.Values.Cast<object?>(),
        _ => entries.Cast<object?>(),
    };

    // An immutable array that was never given a value cannot be walked.
    private static bool IsDefaultArray(IEnumerable entries) =>
        entries.GetType() is { IsValueType: true } type && type.GetProperty("IsDefault")?.GetValue(entries) is true;

    private static void Visit(object value, Stack<object> open, HashSet<object> seen)
    {
        var type = value.GetType();
        if (IsOurs(type) && !type.IsEnum && (type.IsValueType || seen.Add(value)))
        {
            open.Push(value);
        }
    }

    private static bool IsOurs(Type type) =>
        type.Namespace is { } space && space.StartsWith("QuickSilver", StringComparison.Ordinal)
        && !space.StartsWith("QuickSilver.Seeds", StringComparison.Ordinal)
        && (!space.StartsWith("QuickSilver.Simulation", StringComparison.Ordinal) || type == typeof(Simulation.Machines.SimulatedParts));

    private static FieldInfo[] OwnFields(Type type)
    {
        if (!FieldsOf.TryGetValue(type, out var fields))
        {
            var all = new List<FieldInfo>();
            for (var each = type; each is not null && each != typeof(object); each = each.BaseType)
            {
                all.AddRange(each.GetFields(Fields).Where(field => !field.FieldType.IsPrimitive && !field.FieldType.IsByRefLike
                    && !field.FieldType.IsPointer));
            }

            FieldsOf[type] = fields = [.. all];
        }

        return fields;
    }
}
