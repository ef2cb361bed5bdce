using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// A type with many members that many files name is a context object, whatever its name: each of those files could use any of them.
public sealed class WideTypeTests
{
    private const int MaxMembers = 25;
    private const int MaxFiles = 10;

    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly List<(string Path, string Text)> Sources =
        [.. Repository.Files(["src"], ".cs").Select(static file => (file, Repository.Read(file)))];

    [Fact]
    public void Internal_types_with_more_than_25_members_are_named_by_at_most_10_files() => Violations.AssertNone(
        from project in ProjectFile.All("src").Where(static p => p.Name != LayerRules.Generator)
        from type in Assemblies.Named(project.Name).GetTypes()
        where !type.IsVisible && !type.IsEnum && !type.IsDefined(typeof(CompilerGeneratedAttribute)) && !type.Name.Contains('<')
        let members = MembersOf(type)
        where members > MaxMembers
        let files = FilesThatName(type).ToList()
        where files.Count > MaxFiles
        select $"{type.FullName} has {members} members and is named by {files.Count} files");

    private static int MembersOf(Type type) => type.GetMembers(Declared).Count(IsMember);

    // Not what a compiler wrote, and no datum: settings, figures and log messages are tables, and give no access to parts.
    private static bool IsMember(MemberInfo member) => !member.Name.Contains('<') && !member.Name.Contains('.')
        && !member.IsDefined(typeof(CompilerGeneratedAttribute)) && member switch
        {
            FieldInfo field => !field.IsPrivate && !IsDatum(field.FieldType),
            PropertyInfo property => !property.GetAccessors(nonPublic: true).All(static a => a.IsPrivate) && !IsStored(property),
            MethodInfo method =>
                !method.IsPrivate && !method.IsSpecialName && method.GetBaseDefinition() == method && !IsLogMessage(method),
            EventInfo raised => !raised.AddMethod!.IsPrivate,
            _ => false,
        };

    private static bool IsLogMessage(MethodInfo method) => method.GetParameters() is [{ ParameterType.Name: "ILogger" }, ..];

    private static bool IsStored(PropertyInfo property) => IsDatum(property.PropertyType)
        && property.DeclaringType!.GetField($"<{property.Name}>k__BackingField", Declared) is not null;

    private static bool IsDatum(Type type) => type.IsValueType || type == typeof(string)
        || (type.IsGenericType && type.GetGenericArguments().All(IsDatum)) || (type.IsArray && IsDatum(type.GetElementType()!));

    // Neither those that declare it, nor those that only derive from it: what a base calls is overridden there, and not used.
    private static IEnumerable<string> FilesThatName(Type type)
    {
        string name = type.Name.Split('`')[0];
        var word = new Regex($@"^(?!\s*(//|using |namespace )).*(?<!//.*)\b{name}\b", RegexOptions.Multiline);
        var declares = new Regex($@"\b(class|struct|interface|record) {name}\b");
        var derives = new Regex($@"\) *: {name}\b|class \w+ : {name}\b");
        return
            from file in Sources
            where file.Text.Contains(name, StringComparison.Ordinal) && !declares.IsMatch(file.Text) && !derives.IsMatch(file.Text)
            where word.IsMatch(file.Text)
            select file.Path;
    }
}
