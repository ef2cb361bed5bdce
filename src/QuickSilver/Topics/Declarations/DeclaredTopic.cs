using System.Reflection;

namespace QuickSilver.Topics.Declarations;

// What a payload type declares about its topic. Trimming and compilation ahead of time keep the attributes of each type that they keep, and
// a payload type is kept, so the attribute itself is read.
internal static class DeclaredTopic
{
    /// <summary>The declaration of the type; null if it has none.</summary>
    public static TopicAttribute? Of<T>() => Declaration<T>.Value;

    /// <exception cref="InvalidOperationException">The type declares no topic, or one with an invalid name.</exception>
    public static string NameOf<T>()
    {
        var declared = Of<T>() ?? throw new InvalidOperationException(
            $"{typeof(T)} declares no topic. Pass the name of the topic, or declare it at the type with [Topic(\"name\")].");
        string? fault = declared.Name is null ? "It is null." : TopicName.Fault(declared.Name);
        return fault is null
            ? declared.Name!
            : throw new InvalidOperationException($"{typeof(T)} declares a topic with an invalid name. {fault}");
    }

    /// <summary>Gives options the guarantee that the type declares. They are a copy of the endpoint's own.</summary>
    /// <exception cref="ArgumentException">The options have another guarantee.</exception>
    /// <exception cref="InvalidOperationException">The type declares a guarantee that does not exist.</exception>
    public static void Apply<T>(TopicOptions options)
    {
        // The guarantee of a family's protocol is none that a type can declare.
        if (Of<T>() is not { } declared || options.Protocol is not null)
        {
            return;
        }

        if (!Enum.IsDefined(declared.Guarantee))
        {
            throw new InvalidOperationException(
                $"{typeof(T)} declares the topic \"{declared.Name}\" with the guarantee {declared.Guarantee}, which does not exist. "
                + $"The guarantees are {string.Join(" and ", Enum.GetNames<Guarantee>())}.");
        }

        if (IsContradicted(declared, options))
        {
            throw new ArgumentException(
                $"The options have the guarantee {options.Guarantee}, and {typeof(T)} declares the topic \"{declared.Name}\" with the "
                + $"guarantee {declared.Guarantee}. Do not set {nameof(TopicOptions)}.{nameof(options.Guarantee)}, or change the "
                + "declaration.",
                nameof(options));
        }

        options.Guarantee = declared.Guarantee;
    }

    /// <summary>Whether options have another guarantee than the one that is declared.</summary>
    public static bool IsContradicted(TopicAttribute declared, TopicOptions options) =>
        options.GivenGuarantee is { } given && given != declared.Guarantee;

    private static class Declaration<T>
    {
        public static readonly TopicAttribute? Value = typeof(T).GetCustomAttribute<TopicAttribute>(inherit: false);
    }
}
