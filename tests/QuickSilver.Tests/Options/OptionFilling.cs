using System.Collections;
using System.Linq.Expressions;
using System.Net;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Tests.Options;

// Options by reflection, so that a property that is new is among them: those that only the library sets, too.
internal static class OptionFilling
{
    /// <summary>The types of options, those with type parameters for texts.</summary>
    public static IEnumerable<Type> Types => typeof(QuickSilverOptions).Assembly.GetExportedTypes()
        .Where(static type => type.IsClass)
        .Where(static type => type.Name.Split('`')[0].EndsWith("Options", StringComparison.Ordinal) || type == typeof(NodeLimits))
        .Select(static type => type.IsGenericTypeDefinition
            ? type.MakeGenericType([.. type.GetGenericArguments().Select(static _ => typeof(string))])
            : type);

    /// <summary>Gives each property a value that is not its default, groups too.</summary>
    public static object Fill(object options)
    {
        foreach (var property in PropertiesOf(options.GetType()))
        {
            property.SetValue(options, Other(property.PropertyType, property.GetValue(options)));
        }

        return options;
    }

    /// <summary>Takes the value of each property away: in place where it can be changed so.</summary>
    public static void Spoil(object options)
    {
        foreach (var property in PropertiesOf(options.GetType()))
        {
            object? value = property.GetValue(options);
            if (value is IList { IsReadOnly: false } list)
            {
                list.Clear();
            }
            else if (value is not null && Types.Contains(value.GetType()))
            {
                Spoil(value);
            }

            property.SetValue(options, null);
        }
    }

    /// <summary>Each value by its path, of lists that of each entry.</summary>
    public static IEnumerable<KeyValuePair<string, object?>> Read(object options) =>
        PropertiesOf(options.GetType()).SelectMany(property => property.GetValue(options) switch
        {
            IList list when property.PropertyType != typeof(string) =>
                list.Cast<object?>().Select((entry, at) => KeyValuePair.Create($"{property.Name}:{at}", entry)),
            { } group when Types.Contains(group.GetType()) =>
                Read(group).Select(one => KeyValuePair.Create($"{property.Name}:{one.Key}", one.Value)),
            var value => [KeyValuePair.Create(property.Name, value)],
        });

    private static IEnumerable<PropertyInfo> PropertiesOf(Type type)
    {
        const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance;
        for (var declaring = type; declaring != typeof(object); declaring = declaring.BaseType!)
        {
            // A private setter is found only at the type that declares it.
            foreach (var property in declaring.GetProperties(All | BindingFlags.DeclaredOnly).Where(static one => one.CanWrite))
            {
                yield return property;
            }
        }
    }

    private static object Other(Type type, object? value)
    {
        var plain = Nullable.GetUnderlyingType(type) ?? type;
        return value switch
        {
            bool flag => !flag,
            int number => number + 1,
            long number => number + 1,
            TimeSpan time => time + TimeSpan.FromSeconds(1),
            NodeInterface => NodeInterface.Parse("10.9.8.7"),
            ConsumerErrors => ConsumerErrors.Stop,
            not null when Types.Contains(value.GetType()) => Fill(value),
            _ when plain == typeof(string) => "other",
            _ when plain == typeof(TimeSpan) => TimeSpan.FromSeconds(1),
            _ when plain == typeof(IPNetwork) => IPNetwork.Parse("239.1.0.0/16"),
            _ when plain.IsEnum => Enum.GetValues(plain).Cast<object>().First(one => !one.Equals(value)),
            _ when plain == typeof(IList<string>) => new List<string> { "other:1", "other:2" },
            _ when plain == typeof(X509Certificate2) => RuntimeHelpers.GetUninitializedObject(plain),
            _ when plain == typeof(X509Certificate2Collection) => new X509Certificate2Collection((X509Certificate2)
                RuntimeHelpers.GetUninitializedObject(typeof(X509Certificate2))),
            _ when plain == typeof(ProtocolChoice) => new ProtocolChoice(Factory: null!),
            _ when plain.IsInterface => DispatchProxy.Create(plain, typeof(Nothing)),
            _ when plain.IsAssignableTo(typeof(Delegate)) => Callback(plain),
            _ => throw new NotSupportedException($"No other value of {type} is known."),
        };
    }

    private static Delegate Callback(Type type)
    {
        var method = type.GetMethod("Invoke")!;
        var parameters = method.GetParameters().Select(static one => Expression.Parameter(one.ParameterType));
        return Expression.Lambda(type, Expression.Default(method.ReturnType), parameters).Compile();
    }

    internal class Nothing : DispatchProxy
    {
        protected override object? Invoke(MethodInfo? targetMethod, object?[]? args) => null;
    }
}
