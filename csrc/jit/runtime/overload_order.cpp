#include <csrc/jit/runtime/overload_order.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

namespace torch::jit {

namespace {

struct Order {
  std::string_view name;
  std::string_view overloads; // with commas between them
};

// Names whose overloads are in another order than the rule's below, sorted by name.
constexpr Order kOrders[] = {
    {"aten::Complex",
     "Scalar,Tensor_Tensor,int_bool,bool_int,float_bool,bool_float,float_int,int_float,int_int,bool_bool,float_float,"
     "Tensor_float,float_Tensor,Tensor_int,int_Tensor,Tensor_bool,bool_Tensor"},
    {"aten::Delete", "t,Dict_str,Dict_int,Dict_bool,Dict_float,Dict_complex,Dict_Tensor"},
    {"aten::__and__", "Scalar,Tensor,bool,int"},
    {"aten::__contains__", "int_list,str_list,str,int,bool,float,complex,Tensor,float_list"},
    {"aten::__getitem__", "t,str,Dict_str,Dict_int,Dict_bool,Dict_float,Dict_complex,Dict_Tensor"},
    {"aten::__iand__", "Tensor,Scalar"},
    {"aten::__ilshift__", "Tensor,Scalar"},
    {"aten::__ior__", "Tensor,Scalar"},
    {"aten::__irshift__", "Tensor,Scalar"},
    {"aten::__ixor__", "Tensor,Scalar"},
    {"aten::__lshift__", "Tensor,Scalar,Scalar_out,Tensor_out"},
    {"aten::__or__", "Tensor,Scalar,bool,int"},
    {"aten::__rshift__", "Tensor,Scalar,Scalar_out,Tensor_out"},
    {"aten::__xor__", "Tensor,Scalar,bool,int"},
    {"aten::add",
     "Tensor,Scalar,out,Scalar_out,t,str,int,complex,float,int_complex,complex_int,float_complex,complex_float,int_"
     "float,float_int,"},
    {"aten::add_", "Tensor,Scalar"},
    {"aten::addmm", ",out,dtype_out,dtype"},
    {"aten::all", ",dim,dims,out,dims_out,all_out"},
    {"aten::any", ",dim,dims,out,dims_out,all_out,str,int,float,bool"},
    {"aten::arange", ",start,start_step,start_out,out"},
    {"aten::as_tensor", "bool,float,int,complex,,list"},
    {"aten::baddbmm", ",out,dtype_out,dtype"},
    {"aten::bernoulli", ",out,p,Tensor,Tensor_out,float_out"},
    {"aten::bitwise_and", "Tensor,Scalar,Scalar_Tensor,Tensor_out,Scalar_out,Scalar_Tensor_out"},
    {"aten::bitwise_and_", "Tensor,Scalar"},
    {"aten::bitwise_left_shift", "Tensor,Tensor_Scalar,Scalar_Tensor,Tensor_out,Tensor_Scalar_out,Scalar_Tensor_out"},
    {"aten::bitwise_left_shift_", "Tensor_Scalar,Tensor"},
    {"aten::bitwise_or", "Tensor,Scalar,Scalar_Tensor,Tensor_out,Scalar_out,Scalar_Tensor_out"},
    {"aten::bitwise_or_", "Tensor,Scalar"},
    {"aten::bitwise_right_shift", "Tensor,Tensor_Scalar,Scalar_Tensor,Tensor_out,Tensor_Scalar_out,Scalar_Tensor_out"},
    {"aten::bitwise_right_shift_", "Tensor_Scalar,Tensor"},
    {"aten::bitwise_xor", "Tensor,Scalar,Scalar_Tensor,Tensor_out,Scalar_out,Scalar_Tensor_out"},
    {"aten::bitwise_xor_", "Tensor,Scalar"},
    {"aten::bmm", ",out,dtype_out,dtype"},
    {"aten::bucketize", "Tensor,Scalar,Tensor_out,Scalar_out"},
    {"aten::clamp", ",Tensor,out,Tensor_out"},
    {"aten::clamp_max", ",Tensor,out,Tensor_out"},
    {"aten::clamp_min", ",Tensor,out,Tensor_out"},
    {"aten::clear", "t,str,int,bool,float,complex,Tensor"},
    {"aten::clip", ",Tensor,out,Tensor_out"},
    {"aten::copy", ",out,t,Dict_str,Dict_int,Dict_bool,Dict_float,Dict_complex,Dict_Tensor"},
    {"aten::copysign", "Tensor,Scalar,out,Scalar_out"},
    {"aten::copysign_", "Tensor,Scalar"},
    {"aten::count", ",int,float,bool,Tensor,str"},
    {"aten::cumulative_trapezoid", "x,dx"},
    {"aten::dequantize", "self,self_out,tensors_out,tensors"},
    {"aten::dict",
     ",str,Dict_str,int,Dict_int,bool,Dict_bool,float,Dict_float,complex,Dict_complex,Tensor,Dict_Tensor"},
    {"aten::div", "Tensor,Scalar,Tensor_mode,Scalar_mode,out,out_mode,Scalar_out,Scalar_mode_out,int,complex,float,"},
    {"aten::div_", "Tensor,Tensor_mode,Scalar,Scalar_mode"},
    {"aten::divide", "Tensor,Scalar,Tensor_mode,Scalar_mode,out,out_mode"},
    {"aten::divide_", "Tensor,Tensor_mode,Scalar_mode,Scalar"},
    {"aten::dsplit", "int,array"},
    {"aten::eq",
     "Tensor,Scalar,Scalar_out,Tensor_out,int_list,device,bool,enum,int,complex,float,int_float,float_int,float_"
     "complex,complex_float,,str,float_list,Tensor_list,bool_list,str_list"},
    {"aten::eye", ",m,out,m_out"},
    {"aten::float_power", "Tensor_Tensor,Tensor_Scalar,Scalar,Tensor_Tensor_out,Scalar_out,Tensor_Scalar_out"},
    {"aten::float_power_", "Tensor,Scalar"},
    {"aten::floor_divide", ",Scalar,out,Scalar_out"},
    {"aten::floor_divide_", "Tensor,Scalar"},
    {"aten::fmod", "Tensor,Scalar,Tensor_out,Scalar_out"},
    {"aten::fmod_", "Tensor,Scalar"},
    {"aten::ge", "Tensor,Scalar,Scalar_out,Tensor_out,int,float,int_float,float_int,,str"},
    {"aten::get",
     "str,default_str,int,default_int,bool,default_bool,float,default_float,complex,default_complex,Tensor,default_"
     "Tensor"},
    {"aten::gradient", "scalarint,scalararray,array,scalarrayint,scalarrayarray,tensorarrayint,tensorarray"},
    {"aten::greater", "Tensor,Scalar,Scalar_out,Tensor_out"},
    {"aten::greater_equal", "Tensor,Scalar,Scalar_out,Tensor_out"},
    {"aten::gru", "input,data"},
    {"aten::gt", "Tensor,Scalar,Scalar_out,Tensor_out,int,float,int_float,float_int,,str"},
    {"aten::hamming_window",
     ",periodic,periodic_alpha,periodic_alpha_beta,out,periodic_out,periodic_alpha_out,periodic_alpha_beta_out"},
    {"aten::histogram", "bins_tensor,bins_tensor_out,bin_ct,bin_ct_out"},
    {"aten::histogramdd", ",int_bins,TensorList_bins"},
    {"aten::hsplit", "int,array"},
    {"aten::index", "Tensor,Tensor_out,Tensor_hacked_twin,str,list_int,list_float,list_bool,list_Tensor,list_str"},
    {"aten::index_fill", "int_Tensor,int_Scalar,int_Scalar_out,int_Tensor_out"},
    {"aten::index_fill_", "int_Tensor,int_Scalar"},
    {"aten::isin", "Tensor_Tensor,Tensor_Tensor_out,Tensor_Scalar,Tensor_Scalar_out,Scalar_Tensor,Scalar_Tensor_out"},
    {"aten::items", "str,int,bool,float,complex,Tensor"},
    {"aten::kaiser_window", ",periodic,beta,out,periodic_out,beta_out"},
    {"aten::keys", "str,int,bool,float,complex,Tensor"},
    {"aten::le", "Tensor,Scalar,Scalar_out,Tensor_out,int,float,int_float,float_int,,str"},
    {"aten::len", "t,Tensor,str,Dict_str,Dict_int,Dict_bool,Dict_float,Dict_complex,Dict_Tensor,any"},
    {"aten::less", "Tensor,Scalar,Scalar_out,Tensor_out"},
    {"aten::less_equal", "Tensor,Scalar,Scalar_out,Tensor_out"},
    {"aten::linalg_matrix_rank",
     ",tol_tensor,atol_rtol_tensor,atol_rtol_float,atol_rtol_tensor_out,atol_rtol_float_out,out,out_tol_tensor"},
    {"aten::linalg_norm", ",ord_str,out,ord_str_out"},
    {"aten::linalg_pinv",
     ",atol_rtol_float,atol_rtol_tensor,atol_rtol_tensor_out,atol_rtol_float_out,out,rcond_tensor,out_rcond_tensor"},
    {"aten::linspace",
     "Tensor_Tensor,Tensor_Scalar,Scalar_Tensor,,out,Tensor_Tensor_out,Tensor_Scalar_out,Scalar_Tensor_out"},
    {"aten::log",
     ",out,int,float,complex,Scalar,int_int,float_float,complex_complex,int_float,float_int,int_complex,complex_int,"
     "float_complex,complex_float,Scalar_Scalar"},
    {"aten::logspace",
     "Tensor_Tensor,Tensor_Scalar,Scalar_Tensor,,out,Tensor_Tensor_out,Tensor_Scalar_out,Scalar_Tensor_out"},
    {"aten::lstm", "input,data"},
    {"aten::lt", "Tensor,Scalar,Scalar_out,Tensor_out,int,float,int_float,float_int,,str"},
    {"aten::max", "other,,dim,dim_max,unary_out,out"},
    {"aten::mean", ",dim,out,dtype_out"},
    {"aten::min", "other,,dim,dim_min,unary_out,out"},
    {"aten::mm", ",out,dtype_out,dtype"},
    {"aten::moveaxis", "intlist,int"},
    {"aten::mul",
     "Tensor,Scalar,out,Scalar_out,left_t,right_,int,complex,float,int_complex,complex_int,float_complex,complex_float,"
     "int_float,float_int,"},
    {"aten::mul_", "Tensor,Scalar"},
    {"aten::multiply", "Tensor,Scalar,out"},
    {"aten::multiply_", "Tensor,Scalar"},
    {"aten::native_norm", "out,ScalarOpt_dim_dtype_out,,ScalarOpt_dim_dtype"},
    {"aten::ne",
     "Tensor,Scalar,Scalar_out,Tensor_out,int_list,device,bool,enum,int,complex,float,int_float,float_int,float_"
     "complex,complex_float,,str,float_list,Tensor_list,bool_list,str_list"},
    {"aten::norm",
     "Scalar,ScalarOpt_dim,ScalarOpt_dim_dtype,dtype_out,out,ScalarOpt_dtype,ScalarOpt_dtype_out,Scalar_out"},
    {"aten::normal",
     "Tensor_float,Tensor_float_out,float_Tensor_out,float_Tensor,Tensor_Tensor,Tensor_Tensor_out,float_float,float_"
     "float_out,out"},
    {"aten::not_equal", "Tensor,Scalar,Scalar_out,Tensor_out"},
    {"aten::nuclear_norm", ",dim,out,dim_out"},
    {"aten::pop",
     "t,Dict_str,Dict_default_str,Dict_int,Dict_default_int,Dict_bool,Dict_default_bool,Dict_float,Dict_default_float,"
     "Dict_complex,Dict_default_complex,Dict_Tensor,Dict_default_Tensor"},
    {"aten::popitem", "str,int,bool,float,complex,Tensor"},
    {"aten::pow",
     "Tensor_Tensor,Tensor_Scalar,Scalar,Tensor_Tensor_out,Scalar_out,Tensor_Scalar_out,int,complex,float,int_float,"
     "float_int,float_complex,complex_float,Scalar_Scalar,int_to_int"},
    {"aten::rand", ",generator,out,generator_out"},
    {"aten::rand_like", ",generator,out,generator_out"},
    {"aten::randint", ",generator,low,low_generator,out,generator_out,low_out,low_generator_out"},
    {"aten::randint_like",
     ",Tensor,low_dtype,generator,Tensor_generator,low_generator_dtype,out,generator_out,Tensor_out,Tensor_generator_"
     "out,low_dtype_out,low_generator_dtype_out"},
    {"aten::randn", ",generator,out,generator_out"},
    {"aten::randn_like", ",generator,out,generator_out"},
    {"aten::random", "from,from_out,to,to_out,,out"},
    {"aten::random_", "from,to,"},
    {"aten::randperm", ",generator,out,generator_out"},
    {"aten::range", "step,,out,out_"},
    {"aten::remainder", "Tensor,Scalar,Scalar_Tensor,Tensor_out,Scalar_out,Scalar_Tensor_out"},
    {"aten::remainder_", "Tensor,Scalar"},
    {"aten::remove", "int,float,bool,Tensor,str"},
    {"aten::result_type", "Tensor,Scalar,Scalar_Tensor,Scalar_Scalar"},
    {"aten::rnn_relu", "input,data"},
    {"aten::rnn_tanh", "input,data"},
    {"aten::round", ",decimals,out,decimals_out"},
    {"aten::rsub", "Tensor,Scalar,Tensor_out,Scalar_out"},
    {"aten::scatter", "value,src,reduce,value_reduce,src_out,value_out,reduce_out,value_reduce_out"},
    {"aten::scatter_", "src,value,reduce,value_reduce"},
    {"aten::searchsorted", "Tensor,Scalar,Tensor_out,Scalar_out"},
    {"aten::set",
     "source_Storage,source_Storage_out,source_Storage_storage_offset,source_Storage_storage_offset_out,source_Tensor,"
     "source_Tensor_out,,out"},
    {"aten::set_", "source_Storage_storage_offset,source_Tensor,,source_Storage,source_Tensor_storage_offset"},
    {"aten::setdefault", "str,int,bool,float,complex,Tensor"},
    {"aten::slice", "Tensor,t,str"},
    {"aten::smooth_l1_loss_backward", "grad_input,"},
    {"aten::sort", ",stable,values_stable,values,int,float,Tensor,bool,str,any"},
    {"aten::sorted", "int,float,Tensor,bool,str,any"},
    {"aten::sparse_bsc_tensor", "ccol_row_value_size,ccol_row_value"},
    {"aten::sparse_bsr_tensor", "crow_col_value_size,crow_col_value"},
    {"aten::sparse_compressed_tensor", "comp_plain_value_size,comp_plain_value"},
    {"aten::sparse_coo_tensor", "size,indices,indices_size,size_out"},
    {"aten::sparse_csc_tensor", "ccol_row_value_size,ccol_row_value"},
    {"aten::sparse_csr_tensor", "crow_col_value_size,crow_col_value"},
    {"aten::special_chebyshev_polynomial_t", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_chebyshev_polynomial_u", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_chebyshev_polynomial_v", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_chebyshev_polynomial_w", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_hermite_polynomial_h", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_hermite_polynomial_he", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_laguerre_polynomial_l", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_legendre_polynomial_p", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_shifted_chebyshev_polynomial_t", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_shifted_chebyshev_polynomial_u", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_shifted_chebyshev_polynomial_v", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_shifted_chebyshev_polynomial_w", ",out,x_scalar,x_scalar_out,n_scalar,n_scalar_out"},
    {"aten::special_xlog1py", ",other_scalar,self_scalar,out,self_scalar_out,other_scalar_out"},
    {"aten::special_xlogy", ",other_scalar,self_scalar,out,self_scalar_out,other_scalar_out"},
    {"aten::special_zeta", ",other_scalar,self_scalar,out,self_scalar_out,other_scalar_out"},
    {"aten::squeeze_copy", ",dim,dims,out,dim_out,dims_out"},
    {"aten::std", ",dim,correction,correction_out,out"},
    {"aten::std_mean", ",dim,correction,correction_out"},
    {"aten::sub",
     "Tensor,Scalar,out,Scalar_out,int,complex,float,int_complex,complex_int,float_complex,complex_float,int_float,"
     "float_int,"},
    {"aten::sub_", "Tensor,Scalar"},
    {"aten::subtract", "Tensor,out,Scalar"},
    {"aten::subtract_", "Tensor,Scalar"},
    {"aten::sum", "dim_IntList,,IntList_out,out"},
    {"aten::tensor", "bool,float,int,complex,"},
    {"aten::tensor_split", "sections,indices,tensor_indices_or_sections"},
    {"aten::to", "device,dtype,other,dtype_layout"},
    {"aten::to_sparse", "sparse_dim,"},
    {"aten::trapezoid", "x,dx"},
    {"aten::trapz", "x,dx"},
    {"aten::true_divide", "Tensor,Scalar,out"},
    {"aten::true_divide_", "Tensor,Scalar"},
    {"aten::update", "str,int,bool,float,complex,Tensor"},
    {"aten::values", ",str,int,bool,float,complex,Tensor"},
    {"aten::var", ",dim,correction,correction_out,out"},
    {"aten::var_mean", ",dim,correction,correction_out"},
    {"aten::view_copy", ",dtype,out,dtype_out"},
    {"aten::vsplit", "int,array"},
    {"aten::where", "self,ScalarOther,ScalarSelf,Scalar,,self_out"},
    {"aten::xlogy", "Tensor,Scalar_Other,Scalar_Self,OutTensor,OutScalar_Self,OutScalar_Other"},
    {"aten::xlogy_", "Tensor,Scalar_Other"},
};

static_assert(std::is_sorted(std::begin(kOrders), std::end(kOrders), [](const Order& a, const Order& b) {
  return a.name < b.name;
}));

constexpr size_t kUnlisted = 1000;

// The place of the overload in the list.
size_t place_in(std::string_view overloads, std::string_view overload) {
  for (size_t place = 0;; ++place) {
    const size_t end = std::min(overloads.find(','), overloads.size());
    if (overloads.substr(0, end) == overload) {
      return place;
    }
    if (end == overloads.size()) {
      return kUnlisted;
    }
    overloads.remove_prefix(end + 1);
  }
}

bool writes_to_arguments(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return argument.is_out();
  });
}

} // namespace

void sort_overloads(std::vector<OperatorPtr>& overloads, size_t from_dispatcher) {
  if (overloads.size() < 2) {
    return;
  }
  const std::string& name = overloads.front()->schema().name();
  const auto* const found = std::lower_bound(
      std::begin(kOrders), std::end(kOrders), name,
      [](const Order& order, std::string_view n) { return order.name < n; });
  const bool listed = found != std::end(kOrders) && found->name == name;
  // By rule: the dispatcher's, those with outputs last, by name; then those of the tables as they stand there.
  const auto key = [&](const OperatorPtr& op, bool own) {
    const c10::FunctionSchema& schema = op->schema();
    const std::string_view overload = own ? std::string_view() : std::string_view(schema.overload_name());
    return std::tuple(
        listed ? place_in(found->overloads, schema.overload_name()) : kUnlisted, own,
        !own && writes_to_arguments(schema), overload);
  };
  std::vector<std::pair<decltype(key(overloads.front(), false)), OperatorPtr>> keyed;
  for (size_t i = 0; i < overloads.size(); ++i) {
    keyed.emplace_back(key(overloads[i], i >= from_dispatcher), overloads[i]);
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(keyed.begin(), keyed.end(), overloads.begin(), [](const auto& each) { return each.second; });
}

} // namespace torch::jit
