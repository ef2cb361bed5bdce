using System.Globalization;
using System.Reflection;

namespace QuickSilver.Architecture.Tests.Reading;

// Types and constants as C# writes them, with what may be null marked.
internal static class TypeText
{
    private static readonly Dictionary<Type, string> Keywords = new()
    {
        [typeof(void)] = "void",
        [typeof(object)] = "object",
        [typeof(string)] = "string",
        [typeof(bool)] = "bool",
        [typeof(byte)] = "byte",
        [typeof(sbyte)] = "sbyte",
        [typeof(char)] = "char",
        [typeof(decimal)] = "decimal",
        [typeof(double)] = "double",
        [typeof(float)] = "float",
        [typeof(int)] = "int",
        [typeof(uint)] = "uint",
        [typeof(long)] = "long",
        [typeof(ulong)] = "ulong",
        [typeof(short)] = "short",
        [typeof(ushort)] = "ushort",
    };

    public static string Of(Type type, NullabilityInfo? nullability = null)
    {
        if (type.IsByRef)
        {
            return Of(type.GetElementType()!, nullability);
        }

        if (Nullable.GetUnderlyingType(type) is { } underlying)
        {
            return Of(underlying) + "?";
        }

        // Of a type parameter the compiler says "maybe null" whether it is marked or not.
        var mark = !type.IsValueType && !type.IsGenericParameter && nullability?.ReadState == NullabilityState.Nullable ? "?" : "";
        return Bare(type, nullability) + mark;
    }

    public static string OfParameter(ParameterInfo parameter)
    {
        var by = parameter switch
        {
            { IsOut: true } => "out ",
            { IsIn: true, ParameterType.IsByRef: true } => "in ",
            { ParameterType.IsByRef: true } => "ref ",
            _ when parameter.IsDefined(typeof(ParamArrayAttribute)) => "params ",
            _ => "",
        };
        var value = parameter.HasDefaultValue ? " = " + OfValue(parameter.DefaultValue, parameter.ParameterType) : "";
        return $"{by}{Of(parameter.ParameterType, new NullabilityInfoContext().Create(parameter))} {parameter.Name}{value}";
    }

    public static string OfValue(object? value, Type type) => value switch
    {
        null => type.IsValueType && Nullable.GetUnderlyingType(type) is null ? "default" : "null",
        string text => $"\"{text}\"",
        bool flag => flag ? "true" : "false",
        Enum => $"{Of(value.GetType())}.{value}",
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        _ => value.ToString() ?? "",
    };

    /// <summary>"&lt;T&gt;" for a generic type or method, else nothing.</summary>
    public static string OfParameters(Type[] parameters) =>
        parameters.Length == 0 ? "" : $"<{string.Join(", ", parameters.Select(p => Of(p)))}>";

    public static string OfConstraints(Type[] parameters)
    {
        var text = "";
        foreach (var parameter in parameters.Where(p => p.IsGenericParameter))
        {
            var limits = parameter.GetGenericParameterConstraints().Where(c => c != typeof(ValueType)).Select(c => Of(c)).ToList();
            var attributes = parameter.GenericParameterAttributes;
            if (attributes.HasFlag(GenericParameterAttributes.NotNullableValueTypeConstraint))
            {
                limits.Insert(0, "struct");
            }
            else if (attributes.HasFlag(GenericParameterAttributes.ReferenceTypeConstraint))
            {
                limits.Insert(0, "class");
            }

            if (attributes.HasFlag(GenericParameterAttributes.DefaultConstructorConstraint) && !limits.Contains("struct"))
            {
                limits.Add("new()");
            }

            text += limits.Count > 0 ? $" where {parameter.Name} : {string.Join(", ", limits)}" : "";
        }

        return text;
    }

    private static string Bare(Type type, NullabilityInfo? nullability)
    {
        if (Keywords.TryGetValue(type, out var keyword))
        {
            return keyword;
        }

        if (type.IsArray)
        {
            return Of(type.GetElementType()!, nullability?.ElementType) + "[]";
        }

        if (type.IsGenericParameter)
        {
            return type.Name;
        }

        var name = type.Name.Split('`')[0];
        var arguments = type.GetGenericArguments();
        var outer = type.DeclaringType is { } declaring ? declaring.Name.Split('`')[0] + "." : "";
        var nullabilities = nullability?.GenericTypeArguments ?? [];
        return arguments.Length == 0
            ? outer + name
            : $"{outer}{name}<{string.Join(", ", arguments.Select((a, i) => Of(a, i < nullabilities.Length ? nullabilities[i] : null)))}>";
    }
}
