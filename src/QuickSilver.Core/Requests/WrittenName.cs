using System.Reflection;

namespace QuickSilver.Core.Requests;

// Names code by the method that it was written in, not by what the compiler made of a lambda.
internal static class WrittenName
{
    /// <summary>"Type.Method".</summary>
    public static string Of(MethodInfo method)
    {
        var type = method.DeclaringType;
        while (type is { IsNested: true } && type.Name.StartsWith('<'))
        {
            type = type.DeclaringType;
        }

        string name = method.Name;
        int end = name.IndexOf('>', StringComparison.Ordinal);
        return $"{type?.Name}.{(name.StartsWith('<') && end > 1 ? name[1..end] : name)}";
    }
}
