using QuickSilver.Serialization;

namespace QuickSilver;

// The codecs that options have, or those of the types. Options of other types than what is opened are a mistake of the program.
internal static class CodecOptions
{
    /// <exception cref="ArgumentException">The options are those of another type.</exception>
    /// <exception cref="NotSupportedException">The type has no codec, and the options have none.</exception>
    public static IPayloadCodec<T> Of<T>(TopicOptions? options)
    {
        Check<T>(options);
        return (options as TopicOptions<T>)?.Codec ?? QuickSilverNode.CodecOf<T>();
    }

    /// <inheritdoc cref="Of{T}(TopicOptions?)"/>
    public static (IPayloadCodec<TRequest> Requests, IPayloadCodec<TReply> Replies) Of<TRequest, TReply>(RequesterOptions? options)
    {
        Check<TRequest, TReply>(options);
        var typed = options as RequesterOptions<TRequest, TReply>;
        return Pair(typed?.RequestCodec, typed?.ReplyCodec);
    }

    /// <inheritdoc cref="Of{T}(TopicOptions?)"/>
    public static (IPayloadCodec<TRequest> Requests, IPayloadCodec<TReply> Replies) Of<TRequest, TReply>(ResponderOptions? options)
    {
        Check<TRequest, TReply>(options);
        var typed = options as ResponderOptions<TRequest, TReply>;
        return Pair(typed?.RequestCodec, typed?.ReplyCodec);
    }

    /// <inheritdoc cref="Of{T}(TopicOptions?)"/>
    public static (IPayloadCodec<TKey> Keys, IPayloadCodec<TValue> Values) Of<TKey, TValue>(StateOptions? options)
        where TKey : notnull
    {
        Check<TKey, TValue>(options);
        var typed = options as StateOptions<TKey, TValue>;
        return Pair(typed?.KeyCodec, typed?.ValueCodec);
    }

    public static void Check<T>(TopicOptions? options) => Check(options, typeof(TopicOptions<>), typeof(T));

    public static void Check<TRequest, TReply>(RequesterOptions? options) =>
        Check(options, typeof(RequesterOptions<,>), typeof(TRequest), typeof(TReply));

    public static void Check<TRequest, TReply>(ResponderOptions? options) =>
        Check(options, typeof(ResponderOptions<,>), typeof(TRequest), typeof(TReply));

    public static void Check<TKey, TValue>(StateOptions? options)
        where TKey : notnull =>
        Check(options, typeof(StateOptions<,>), typeof(TKey), typeof(TValue));

    /// <summary>Also of options of other packages: a generic class of options with codecs, and the types that are opened.</summary>
    public static void Check(object? options, Type typed, params Type[] types)
    {
        if (options?.GetType() is { IsGenericType: true } type
            && type.GetGenericTypeDefinition() == typed
            && !type.GetGenericArguments().SequenceEqual(types))
        {
            string name = typed.Name[..typed.Name.IndexOf('`', StringComparison.Ordinal)];
            throw new ArgumentException(
                $"The options are {name}<{InWords(type.GetGenericArguments())}>, and {name}<{InWords(types)}> are required. Use the types "
                + $"of what is opened, or {name}, which has no codec.",
                nameof(options));
        }
    }

    private static (IPayloadCodec<TFirst> First, IPayloadCodec<TSecond> Second) Pair<TFirst, TSecond>(
        IPayloadCodec<TFirst>? first, IPayloadCodec<TSecond>? second) =>
        (first ?? QuickSilverNode.CodecOf<TFirst>(), second ?? QuickSilverNode.CodecOf<TSecond>());

    private static string InWords(Type[] types) => string.Join(", ", types.Select(static one => one.ToString()));
}
