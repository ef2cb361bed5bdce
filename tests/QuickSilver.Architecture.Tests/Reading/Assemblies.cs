using System.Reflection;
using System.Runtime.CompilerServices;

namespace QuickSilver.Architecture.Tests.Reading;

// The shipped assemblies as built. The generator is not among them: it runs in the compiler and no project links it.
internal static class Assemblies
{
    public static IReadOnlyList<Assembly> Shipped { get; } =
        [.. ProjectFile.All("src").Where(p => p.Name != "QuickSilver.Generators").Select(p => Assembly.Load(p.Name))];

    public static Assembly Named(string name) => Shipped.Single(a => a.GetName().Name == name);

    /// <summary>Types that a person wrote.</summary>
    public static IEnumerable<Type> WrittenTypes(Assembly assembly) => assembly.GetTypes().Where(t => !IsGenerated(t));

    private static bool IsGenerated(Type type) =>
        type.Name.Contains('<') || type.IsDefined(typeof(CompilerGeneratedAttribute), inherit: false)
        || type.Namespace is null || type.Namespace.StartsWith("System.", StringComparison.Ordinal)
        || type.Namespace.StartsWith("Microsoft.CodeAnalysis", StringComparison.Ordinal)
        || (type.DeclaringType is { } outer && IsGenerated(outer));
}
