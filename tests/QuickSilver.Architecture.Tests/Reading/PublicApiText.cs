using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace QuickSilver.Architecture.Tests.Reading;

// Everything of an assembly that code outside can name, one line each, in an order that does not depend on the source.
internal static class PublicApiText
{
    private const BindingFlags Own =
        BindingFlags.DeclaredOnly | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;

    public static string Of(Assembly assembly)
    {
        var text = new StringBuilder();
        foreach (var type in assembly.GetTypes().Where(IsVisible).OrderBy(t => t.FullName, StringComparer.Ordinal))
        {
            text.Append(Head(type)).Append('\n');
            foreach (var line in Members(type).Order(StringComparer.Ordinal))
            {
                text.Append("    ").Append(line).Append('\n');
            }
        }

        return text.ToString();
    }

    private static bool IsVisible(Type type) =>
        type.IsPublic || ((type.IsNestedPublic || type.IsNestedFamily || type.IsNestedFamORAssem) && IsVisible(type.DeclaringType!));

    private static string Head(Type type)
    {
        var kind = type switch
        {
            { IsEnum: true } => "enum",
            { IsInterface: true } => "interface",
            _ when IsDelegate(type) => "delegate",
            { IsValueType: true } => Has<IsReadOnlyAttribute>(type, "readonly ") + (type.IsByRefLike ? "ref " : "") + "struct",
            { IsAbstract: true, IsSealed: true } => "static class",
            { IsAbstract: true } => "abstract class",
            { IsSealed: true } => "sealed class",
            _ => "class",
        };
        var record = type.GetMethod("<Clone>$") is null ? "" : " record";
        var bases = Bases(type).Order(StringComparer.Ordinal).ToList();
        return Obsolete(type) + kind + record + " " + type.Namespace + "." + TypeText.Of(type)
            + (bases.Count > 0 ? " : " + string.Join(", ", bases) : "") + TypeText.OfConstraints(type.GetGenericArguments());
    }

    private static IEnumerable<string> Bases(Type type)
    {
        if (type.IsEnum)
        {
            return Enum.GetUnderlyingType(type) == typeof(int) ? [] : [TypeText.Of(Enum.GetUnderlyingType(type))];
        }

        if (IsDelegate(type))
        {
            return [];
        }

        var parent = type.BaseType is { } b && b != typeof(object) && b != typeof(ValueType) ? [TypeText.Of(b)] : Array.Empty<string>();
        var inherited = type.BaseType?.GetInterfaces() ?? [];
        return parent.Concat(type.GetInterfaces().Except(inherited).Where(i => i.IsVisible).Select(i => TypeText.Of(i)));
    }

    private static IEnumerable<string> Members(Type type)
    {
        if (type.IsEnum)
        {
            return type.GetFields(BindingFlags.Public | BindingFlags.Static)
                .Select(f => $"{f.Name} = {Convert.ToInt64(f.GetRawConstantValue(), null)}");
        }

        if (IsDelegate(type))
        {
            return [Signature(type.GetMethod("Invoke")!).Replace("virtual ", "")];
        }

        return type.GetFields(Own).Where(f => f.IsPublic || f.IsFamily || f.IsFamilyOrAssembly).Select(Field)
            .Concat(type.GetProperties(Own).Where(p => Accessors(p).Any()).Select(Property))
            .Concat(type.GetEvents(Own).Where(e => IsReachable(e.AddMethod!)).Select(Event))
            .Concat(type.GetConstructors(Own).Where(c => IsReachable(c) && !c.IsStatic).Select(Constructor))
            .Concat(type.GetMethods(Own).Where(IsOwnMethod).Select(Signature));
    }

    private static string Field(FieldInfo field)
    {
        var kind = field.IsLiteral ? "const " : (field.IsStatic ? "static " : "") + (field.IsInitOnly ? "readonly " : "");
        var value = field.IsLiteral ? " = " + TypeText.OfValue(field.GetRawConstantValue(), field.FieldType) : "";
        var access = field.IsPublic ? "" : "protected ";
        var type = TypeText.Of(field.FieldType, new NullabilityInfoContext().Create(field));
        return $"{Obsolete(field)}{access}{kind}{type} {field.Name}{value}";
    }

    private static string Event(EventInfo @event) => Obsolete(@event) + $"event {TypeText.Of(@event.EventHandlerType!)} {@event.Name}";

    private static string Constructor(ConstructorInfo constructor) =>
        Access(constructor) + $"{constructor.DeclaringType!.Name.Split('`')[0]}({Parameters(constructor)})";

    private static string Property(PropertyInfo property)
    {
        var accessors = string.Join(" ", Accessors(property));
        var any = property.GetMethod ?? property.SetMethod!;
        var required = property.IsDefined(typeof(RequiredMemberAttribute)) ? "required " : "";
        var indices = property.GetIndexParameters();
        var name = indices.Length > 0 ? $"this[{string.Join(", ", indices.Select(TypeText.OfParameter))}]" : property.Name;
        return Obsolete(property) + (any.IsStatic ? "static " : "") + required
            + TypeText.Of(property.PropertyType, new NullabilityInfoContext().Create(property)) + $" {name} {{ {accessors} }}";
    }

    private static IEnumerable<string> Accessors(PropertyInfo property)
    {
        if (property.GetMethod is { } get && IsReachable(get))
        {
            yield return Access(get) + "get;";
        }

        if (property.SetMethod is { } set && IsReachable(set))
        {
            var isInit = set.ReturnParameter.GetRequiredCustomModifiers().Contains(typeof(IsExternalInit));
            yield return Access(set) + (isInit ? "init;" : "set;");
        }
    }

    private static string Signature(MethodInfo method)
    {
        var kind = method switch
        {
            { IsStatic: true, IsAbstract: true } => "static abstract ",
            { IsStatic: true } => "static ",
            { DeclaringType.IsInterface: true } => method.IsAbstract ? "" : "virtual ",
            { IsAbstract: true } => "abstract ",
            { IsVirtual: true, IsFinal: false } => method.GetBaseDefinition() == method ? "virtual " : "override ",
            _ => "",
        };
        var generic = method.IsGenericMethod ? method.GetGenericArguments() : [];
        var extension = method.IsDefined(typeof(ExtensionAttribute)) ? "this " : "";
        return Obsolete(method) + Access(method) + kind
            + TypeText.Of(method.ReturnType, new NullabilityInfoContext().Create(method.ReturnParameter))
            + $" {method.Name}{TypeText.OfParameters(generic)}({extension}{Parameters(method)}){TypeText.OfConstraints(generic)}";
    }

    private static string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(TypeText.OfParameter));

    // Accessors are listed with their property, and what the compiler adds to a record with its head.
    private static bool IsOwnMethod(MethodInfo method) =>
        IsReachable(method) && !method.Name.Contains('<') && !method.IsDefined(typeof(CompilerGeneratedAttribute))
        && (!method.IsSpecialName || method.Name.StartsWith("op_", StringComparison.Ordinal));

    private static bool IsReachable(MethodBase method) => method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly;

    private static string Access(MethodBase method) => method.IsPublic ? "" : "protected ";

    private static bool IsDelegate(Type type) => type.IsSubclassOf(typeof(Delegate));

    // The compiler marks every ref struct obsolete, for compilers that do not know them.
    private static string Obsolete(MemberInfo member) =>
        member is Type { IsByRefLike: true } ? "" : Has<ObsoleteAttribute>(member, "[Obsolete] ");

    private static string Has<T>(MemberInfo member, string text)
        where T : Attribute => member.IsDefined(typeof(T), inherit: false) ? text : "";
}
