using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using QuickSilver.Endpoints;
using QuickSilver.Hosting.Configuration;
using QuickSilver.Hosting.Consumption;
using QuickSilver.Topics;
using QuickSilver.Topics.Declarations;

namespace QuickSilver.Hosting;

/// <summary>Adds topics and their handlers to a node of a host.</summary>
public sealed partial class QuickSilverBuilder
{
    internal QuickSilverBuilder(IServiceCollection services, HostedNode node) => (Services, Node) = (services, node);

    /// <summary>The service collection.</summary>
    public IServiceCollection Services { get; }

    /// <summary>The key of the node; null for the node without a key.</summary>
    public string? Key => Node.Key;

    internal HostedNode Node { get; }

    /// <summary>Sets how the node ends with the host, and the options of its health checks.</summary>
    /// <param name="configure">Sets the options. It is called after those in the node's configuration section are read.</param>
    public QuickSilverBuilder ConfigureHosting(Action<QuickSilverHostingOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        Services.Configure(Node.OptionsName, configure);
        return this;
    }

    /// <summary>
    /// Adds a topic to publish and to subscribe. Inject <see cref="ITopic{T}"/>, <see cref="ITopicPublisher{T}"/> or
    /// <see cref="ITopicSubscriber{T}"/>, which are the same object; with <c>[FromKeyedServices(name)]</c> if several topics have the same
    /// payload type. The topic can be used immediately: calls wait until the node has joined. The host owns the topic, so do not dispose it
    /// where it is injected. Of a node with a key, topics are injected by the key, a colon and the name.
    /// </summary>
    /// <remarks>Options in the node's configuration section, such as <c>Topics:prices:ReaderCapacity</c>, replace those here.</remarks>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <exception cref="ArgumentException">
    /// The name is invalid, the topic was already added, or the options have another guarantee than the one that the type declares (<see
    /// cref="TopicAttribute"/>).
    /// </exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddTopic<T>(string name, TopicOptions? options = null) =>
        Add<T>(
            name,
            TopicAccess.PublishAndSubscribe,
            options,
            typeof(ITopic<T>),
            typeof(ITopicPublisher<T>),
            typeof(ITopicSubscriber<T>));

    /// <summary>
    /// Adds the topic that the payload type declares with <see cref="TopicAttribute"/>, to publish and to subscribe. It is injected as one
    /// that is added by its name.
    /// </summary>
    /// <exception cref="InvalidOperationException">The type declares no topic, or one with an invalid name.</exception>
    /// <inheritdoc cref="AddTopic{T}(string, TopicOptions?)"/>
    public QuickSilverBuilder AddTopic<T>(TopicOptions? options = null) => AddTopic<T>(DeclaredTopic.NameOf<T>(), options);

    /// <summary>
    /// Adds a topic to publish only. Inject <see cref="ITopicPublisher{T}"/>. The node does not receive the topic's messages for it.
    /// </summary>
    /// <inheritdoc cref="AddTopic{T}(string, TopicOptions?)"/>
    public QuickSilverBuilder AddPublisher<T>(string name, TopicOptions? options = null) =>
        Add<T>(name, TopicAccess.Publish, options, typeof(ITopicPublisher<T>));

    /// <summary>
    /// Adds the topic that the payload type declares with <see cref="TopicAttribute"/>, to publish only. Inject
    /// <see cref="ITopicPublisher{T}"/>.
    /// </summary>
    /// <inheritdoc cref="AddTopic{T}(TopicOptions?)"/>
    public QuickSilverBuilder AddPublisher<T>(TopicOptions? options = null) => AddPublisher<T>(DeclaredTopic.NameOf<T>(), options);

    /// <summary>Adds a topic to subscribe only. Inject <see cref="ITopicSubscriber{T}"/>.</summary>
    /// <inheritdoc cref="AddTopic{T}(string, TopicOptions?)"/>
    public QuickSilverBuilder AddSubscriber<T>(string name, TopicOptions? options = null) =>
        Add<T>(name, TopicAccess.Subscribe, options, typeof(ITopicSubscriber<T>));

    /// <summary>
    /// Adds the topic that the payload type declares with <see cref="TopicAttribute"/>, to subscribe only. Inject
    /// <see cref="ITopicSubscriber{T}"/>.
    /// </summary>
    /// <inheritdoc cref="AddTopic{T}(TopicOptions?)"/>
    public QuickSilverBuilder AddSubscriber<T>(TopicOptions? options = null) => AddSubscriber<T>(DeclaredTopic.NameOf<T>(), options);

    /// <summary>
    /// Adds a singleton service that handles a topic's messages on the node's core thread. It has an endpoint of its own, which only
    /// subscribes.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <typeparam name="THandler">The service.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    public QuickSilverBuilder AddTopicHandler<
        T, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(
        string name, TopicOptions? options = null)
        where THandler : class, ITopicHandler<T>
    {
        var checkedOptions = Check<T>(name, options);
        Services.TryAddSingleton<THandler>();
        Services.AddKeyedSingleton<IHostedTopic>(Node, (provider, _) =>
        {
            var handler = provider.GetRequiredService<THandler>();
            var topic = NewTopic<T>(provider, name, TopicAccess.Subscribe, checkedOptions, isForConsumer: true);
            topic.SubscribeInline(handler.Handle, handler.OnGap);
            return topic;
        });
        return this;
    }

    /// <summary>
    /// Adds a singleton service that handles, on the node's core thread, the messages of the topic that the payload type declares with
    /// <see cref="TopicAttribute"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">The type declares no topic, or one with an invalid name.</exception>
    /// <inheritdoc cref="AddTopicHandler{T, THandler}(string, TopicOptions?)"/>
    public QuickSilverBuilder AddTopicHandler<
        T, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(TopicOptions? options = null)
        where THandler : class, ITopicHandler<T> =>
        AddTopicHandler<T, THandler>(DeclaredTopic.NameOf<T>(), options);

    /// <summary>
    /// Adds a consumer, which handles a topic's messages outside the core thread and may wait. It has an endpoint of its own, which only
    /// subscribes. It is registered as a scoped service, unless it is registered already. When the host stops, it takes no more messages,
    /// and has 5 s to handle those that it has taken, before published messages are drained; then the token of its calls is cancelled. If
    /// it stops because of an error, the check <see cref="QuickSilverServiceCollectionExtensions.ReadyCheck"/> fails and names it.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <typeparam name="TConsumer">The consumer.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="consumer">
    /// The options of the consumer. Null: the defaults. Their callbacks are called before the methods of the consumer.
    /// </param>
    /// <param name="scope">For what a consumer is created. Default: for each message.</param>
    /// <param name="options">The options of the topic. Null: the defaults.</param>
    /// <exception cref="ArgumentException">
    /// The name is invalid, or the options have another guarantee than the one that the type declares (<see cref="TopicAttribute"/>).
    /// </exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddConsumer<
        T, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] TConsumer>(
        string name,
        ConsumerOptions<T>? consumer = null,
        ConsumerScope scope = ConsumerScope.Message,
        TopicOptions? options = null)
        where TConsumer : class, IConsumer<T>
    {
        var checkedOptions = Check<T>(name, options);
        consumer = consumer?.Copy() ?? new ConsumerOptions<T>();
        OptionRules.Check(consumer);
        Check(scope);
        Services.TryAddScoped<TConsumer>();
        Services.AddKeyedSingleton<IHostedTopic>(Node, (provider, _) =>
        {
            var scoped = new ScopedConsumer<T, TConsumer>(provider.GetRequiredService<IServiceScopeFactory>(), scope, consumer);
            var topic = NewTopic<T>(provider, name, TopicAccess.Subscribe, checkedOptions, isForConsumer: true);
            topic.Subscribe(scoped.ConsumeAsync, scoped.Options, typeof(TConsumer), scoped);
            return topic;
        });
        return this;
    }

    /// <summary>
    /// Adds a consumer of the topic that the payload type declares with <see cref="TopicAttribute"/>. It is called as one that is added
    /// with the name of its topic.
    /// </summary>
    /// <exception cref="InvalidOperationException">The type declares no topic, or one with an invalid name.</exception>
    /// <inheritdoc cref="AddConsumer{T, TConsumer}(string, ConsumerOptions{T}?, ConsumerScope, TopicOptions?)"/>
    public QuickSilverBuilder AddConsumer<
        T, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] TConsumer>(
        ConsumerOptions<T>? consumer = null,
        ConsumerScope scope = ConsumerScope.Message,
        TopicOptions? options = null)
        where TConsumer : class, IConsumer<T> =>
        AddConsumer<T, TConsumer>(DeclaredTopic.NameOf<T>(), consumer, scope, options);

    private TopicOptions Check<T>(string name, TopicOptions? options)
    {
        TopicName.Check(name);
        options = options?.Copy() ?? new TopicOptions();
        DeclaredTopic.Apply<T>(options);
        OptionRules.Check(options);
        CodecOptions.Check<T>(options);
        Services.AddKeyedSingleton(Node, new AddedTopic(name, options, typeof(T), DeclaredTopic.Of<T>()));
        return options;
    }

    private HostedTopic<T> NewTopic<T>(
        IServiceProvider provider,
        string name,
        TopicAccess access,
        TopicOptions options,
        bool isForConsumer = false) =>
        new(name, access, HostingOptionsCheck.OfTopic(name, options, Node.HostingOptions(provider)))
        {
            IsForConsumer = isForConsumer,
        };

    private static void Check(ConsumerScope scope)
    {
        if (!Enum.IsDefined(scope))
        {
            throw new ArgumentOutOfRangeException(nameof(scope), (int)scope, "Must be ConsumerScope.Message (0) or Consumer (1).");
        }
    }

    private QuickSilverBuilder Add<T>(
        string name, TopicAccess access, TopicOptions? options, params Type[] interfaces)
    {
        var checkedOptions = Check<T>(name, options);
        return AddShared(
            name,
            "Topic",
            $"the payload type {typeof(T)}",
            provider => NewTopic<T>(provider, name, access, checkedOptions),
            interfaces);
    }

    // One object that is injected under each of its interfaces, with its name as the key, and, if no other has the type, without a key, or
    // with the node's key alone.
    private QuickSilverBuilder AddShared(
        string name, string what, string types, Func<IServiceProvider, IHostedTopic> create, params Type[] interfaces)
    {
        string key = Node.TopicKey(name);
        if (Services.Any(service => service.IsKeyedService && interfaces.Contains(service.ServiceType) && Equals(service.ServiceKey, key)))
        {
            string where = Node.Key is null ? "" : $" of the node \"{Node.Key}\"";
            throw new ArgumentException(
                $"{what} \"{name}\" with {types}{where} is already added, or another service of this type has the key \"{key}\". Add each "
                + "once.",
                nameof(name));
        }

        object added = new();
        Services.AddKeyedSingleton(added, (provider, _) => create(provider));
        Services.AddKeyedSingleton(Node, (provider, _) => provider.GetRequiredKeyedService<IHostedTopic>(added));
        foreach (var type in interfaces)
        {
            Services.AddKeyedSingleton(type, key, (provider, _) => provider.GetRequiredKeyedService<IHostedTopic>(added));
            Services.AddKeyedSingleton(Node, new TopicOfType(type, key));
            // A key of null registers a service without one.
            Services.TryAdd(ServiceDescriptor.KeyedSingleton(type, Node.Key, (provider, _) => Sole(provider, type, types)));
        }

        return this;
    }

    private object Sole(IServiceProvider provider, Type type, string types)
    {
        string[] keys =
        [
            .. provider.GetKeyedServices<TopicOfType>(Node).Where(topic => topic.Type == type).Select(static topic => topic.Key),
        ];
        return keys.Length == 1
            ? provider.GetRequiredKeyedService(type, keys[0])
            : throw new InvalidOperationException(
                $"{keys.Length} topics have {types} ({string.Join(", ", keys)}). "
                + "Inject one of them by name, with [FromKeyedServices(name)].");
    }

    // One for each interface of each added topic, so that the sole one can be injected without its name.
    private sealed record TopicOfType(Type Type, string Key);
}
