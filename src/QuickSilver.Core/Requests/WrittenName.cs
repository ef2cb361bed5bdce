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

        return $"{type?.Name}.{Written(method.Name)}";
    }

    // The compiler puts the name of the written method in angle brackets. The one of top-level statements has such a name itself.
    private static string Written(string name)
    {
        int end = name.LastIndexOf('>');
        return name.StartsWith('<') && end > 1 ? Written(name[1..end]) : name;
    }
}
