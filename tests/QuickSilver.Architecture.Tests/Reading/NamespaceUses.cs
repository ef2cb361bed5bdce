using System.Reflection;
using System.Reflection.Emit;

namespace QuickSilver.Architecture.Tests.Reading;

// Which namespaces a type uses, from its compiled form: its bases, the types in its signatures, and every type, method
// and field that its code names. Source text would miss what is reached through `var` or a parent namespace.
internal static class NamespaceUses
{
    // Public types in a namespace of their own, which all may know as those of the root.
    private const string PublicFeeds = "QuickSilver.Feeds";

    private const BindingFlags Own =
        BindingFlags.DeclaredOnly | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;

    private static readonly Dictionary<short, OpCode> OpCodesByValue = typeof(OpCodes)
        .GetFields(BindingFlags.Public | BindingFlags.Static).Select(f => (OpCode)f.GetValue(null)!).ToDictionary(o => o.Value);

    /// <summary>Pairs of a type of the assembly and a type, of the same assembly, that it uses.</summary>
    public static IEnumerable<(Type User, Type Used)> Within(Assembly assembly) =>
        assembly.GetTypes().SelectMany(user => UsedBy(user).SelectMany(Parts)
            .Where(used => used.Assembly == assembly && used.Namespace is not null && used.Namespace != user.Namespace)
            .Distinct().Select(used => (user, used)));

    /// <summary>Pairs of a type of the assembly and a method, of any assembly, that its code calls.</summary>
    public static IEnumerable<(Type User, MethodBase Called)> CallsOf(Assembly assembly) =>
        from user in assembly.GetTypes()
        from method in user.GetMembers(Own).OfType<MethodBase>()
        from called in MembersIn(method).OfType<MethodBase>()
        select (user, called);

    /// <summary>The first part of the namespace after the assembly's name; empty for the root.</summary>
    public static string RoomOf(Type type)
    {
        var root = type.Assembly.GetName().Name!;
        var full = type.Namespace ?? "";
        return full.StartsWith(root + ".", StringComparison.Ordinal) && full != PublicFeeds ? full[(root.Length + 1)..].Split('.')[0] : "";
    }

    private static IEnumerable<Type> UsedBy(Type type)
    {
        IEnumerable<Type?> used = [type.BaseType, .. type.GetInterfaces(), .. type.GetFields(Own).Select(f => f.FieldType)];
        foreach (var method in type.GetMembers(Own).OfType<MethodBase>())
        {
            used = used.Concat(method.GetParameters().Select(p => p.ParameterType))
                .Append((method as MethodInfo)?.ReturnType).Concat(UsedByCode(method));
        }

        return used.OfType<Type>();
    }

    private static List<Type?> UsedByCode(MethodBase method)
    {
        var used = new List<Type?>();
        if (method.GetMethodBody() is not { } body)
        {
            return used;
        }

        used.AddRange(body.LocalVariables.Select(v => v.LocalType));
        foreach (var member in MembersIn(method))
        {
            used.Add(member as Type ?? member.DeclaringType);
            used.AddRange(member is MethodInfo { IsGenericMethod: true } generic ? generic.GetGenericArguments() : []);
        }

        return used;
    }

    private static IEnumerable<MemberInfo> MembersIn(MethodBase method)
    {
        byte[] code = method.GetMethodBody()?.GetILAsByteArray() ?? [];
        for (var at = 0; at < code.Length;)
        {
            var value = code[at] == 0xfe ? (short)((code[at] << 8) | code[at + 1]) : code[at];
            var operation = OpCodesByValue[value];
            at += operation.Size;
            if (NamesMember(operation) && Resolve(method, BitConverter.ToInt32(code, at)) is { } member)
            {
                yield return member;
            }

            at += OperandBytes(operation, code, at);
        }
    }

    private static bool NamesMember(OpCode operation) =>
        operation.OperandType is OperandType.InlineMethod or OperandType.InlineField or OperandType.InlineType or OperandType.InlineTok;

    private static MemberInfo? Resolve(MethodBase method, int token) => method.Module.ResolveMember(
        token,
        method.DeclaringType is { IsGenericType: true } type ? type.GetGenericArguments() : null,
        method.IsGenericMethod ? method.GetGenericArguments() : null);

    private static int OperandBytes(OpCode operation, byte[] code, int at) => operation.OperandType switch
    {
        OperandType.InlineNone => 0,
        OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar => 1,
        OperandType.InlineVar => 2,
        OperandType.InlineI8 or OperandType.InlineR => 8,
        OperandType.InlineSwitch => 4 + (4 * BitConverter.ToInt32(code, at)),
        _ => 4,
    };

    // List<Lease[]> uses List and Lease.
    private static IEnumerable<Type> Parts(Type type) =>
        type.HasElementType ? Parts(type.GetElementType()!)
        : type.IsGenericType ? type.GetGenericArguments().SelectMany(Parts).Append(type.GetGenericTypeDefinition())
        : type.IsGenericParameter ? []
        : [type];
}
